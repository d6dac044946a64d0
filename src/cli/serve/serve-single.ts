import { planDeparture } from '../../async/departure.js';
import { operateGateway } from '../../gateway/operation.js';
import { ownProcess } from '../../server/own-process.js';
import type { Target } from '../target.js';
import { describeEvent, describeFar, oneLabel } from './describe-serving.js';
import { describeStartFailure, isHopeless } from './describe-start-failure.js';
import type { Doors } from './doors.js';
import type { House } from './house.js';
import { cannotListen } from './listen-at.js';
import type { Operator } from './operator.js';
import { startFarSide } from './start-far-side.js';
import { tellDescriptors } from './tell-descriptors.js';
import { type SingleSettings, unitOfTarget } from './unit-of-target.js';

export interface SingleServing extends SingleSettings {
  readonly addresses: readonly string[];
  readonly doors: Doors;
  readonly house: House;
  readonly graceMs: number | undefined;
  readonly quiet: boolean;
  /** It can be used there. */
  readonly announce: (addresses: readonly string[], what: string) => void;
}

/**
 * Serves a command or an address for everybody. A command is started before it is announced; an address may be away,
 * and is tried again with the next request. Rejects when the server will never be there, and then nothing is left open.
 */
export async function serveSingle(target: Target, serving: SingleServing, operator: Operator): Promise<void> {
  const { addresses, doors, house, graceMs, quiet, announce, ...settings } = serving;
  const definition = unitOfTarget(target, settings);
  const { name } = definition;
  const describe = (error: unknown) => describeStartFailure(error, { target, name, mode: settings.mode });
  const warn = (error: unknown) =>
    operator.warn(describe(error), isHopeless(error) ? undefined : 'it is tried again with the next request');
  let isOurStart = true;
  const operation = await operateGateway({
    ...house,
    units: [definition],
    addresses,
    single: true,
    endpoint: doors.endpoint,
    ...doors.places,
    tellsStderr: doors.isPrivate,
    graceMs,
    onHostEvent(event) {
      if (event.kind === 'stderr') operator.passOn(event.text);
      const isKnown = operation?.gateway.unit(name).bridge.far !== undefined;
      const line = describeEvent(event, { isKnown, isNeeded: true });
      if (line !== undefined) operator.say(`isthmus: ${line}`);
    },
    onStartFailed(_name, error) {
      if (!isOurStart) warn(error);
    },
  }).catch((error: unknown) => {
    throw cannotListen(addresses, error);
  });
  const { gateway } = operation;
  const { bridge } = gateway.unit(name);
  const { closing: over } = gateway;
  tellDescriptors((line) => operator.say(`isthmus: warning: ${line}`));
  ownProcess(operation, planDeparture({ isStdio: addresses.includes('stdio'), graceMs }));
  const label = target.kind === 'command' ? oneLabel([target.command, ...target.args]) : name;
  const tell = () => {
    if (over.aborted) return;
    announce(gateway.addresses, label);
    if (!quiet) void bridge.known.then((far) => operator.say(describeFar(label, far, false)));
  };
  if (target.kind !== 'command') tell();
  const stopWaiting = target.kind === 'command' && !quiet ? operator.waitFor(label) : () => {};
  try {
    const failure = await startFarSide({
      start: () => bridge.start(),
      onRestart:
        target.kind === 'command' ? (error, then) => operator.warn(describe(error), then) : undefined,
      over,
    });
    stopWaiting();
    isOurStart = false;
    if (!over.aborted) gateway.unit(name).keep();
    if (target.kind === 'command') tell();
    if (failure !== undefined) warn(failure);
  } catch (error) {
    stopWaiting();
    await operation.close({ graceMs: 0 });
    throw describe(error);
  }
}
