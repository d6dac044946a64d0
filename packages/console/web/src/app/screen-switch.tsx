import { Empty } from '../parts/states.js';
import { Calls } from '../screens/calls.js';
import { Tools } from '../screens/features/tools.js';
import { Overview } from '../screens/overview/overview.js';
import { Questions } from '../screens/questions.js';
import { WireScreen } from '../screens/wire-screen.js';
import { place, to } from '../state/route.js';
import { isGateway } from '../state/session.js';
import { later } from './later.js';

/** Screens that few people open first come when they are wanted. */
const CheckScreen = later(() => import('../screens/check.js').then((module) => module.CheckScreen));
const Timing = later(() => import('../screens/timing.js').then((module) => module.Timing));
const CallScreen = later(() => import('../screens/call-screen.js').then((module) => module.CallScreen));
const Logs = later(() => import('../screens/logs.js').then((module) => module.Logs));
const Listens = later(() => import('../screens/listens.js').then((module) => module.Listens));
const Prompts = later(() => import('../screens/features/prompts.js').then((module) => module.Prompts));
const Resources = later(() => import('../screens/features/resources.js').then((module) => module.Resources));
const Gateway = later(() => import('../gateway/gateway-screens.js').then((module) => module.GatewayScreen));

/** The screen that the address names. */
export function Screen() {
  const [first, ...rest] = place.value.parts;
  if (isGateway() && (first === undefined || GATEWAY.has(first))) return <Gateway />;
  switch (first) {
    case undefined:
      return <Overview />;
    case 'call':
      return <CallScreen rest={rest} />;
    case 'calls':
      return <Calls server={undefined} />;
    case 'questions':
      return <Questions />;
    case 'wire':
    case 'frame':
      return <WireScreen />;
    case 'logs':
      return <Logs server={undefined} />;
    default:
      return <ServerScreen server={undefined} first={first} rest={rest} />;
  }
}

const GATEWAY = new Set(['server', 'callers', 'settings']);

/** The screens about one server: of the one that is inspected, or of one of a gateway. */
export function ServerScreen({
  server,
  first,
  rest,
}: {
  readonly server: string | undefined;
  readonly first: string;
  readonly rest: readonly string[];
}) {
  switch (first) {
    case 'tools':
      return <Tools server={server} rest={rest} />;
    case 'resources':
      return <Resources server={server} rest={rest} />;
    case 'prompts':
      return <Prompts server={server} rest={rest} />;
    case 'listens':
      return <Listens server={server} />;
    case 'timing':
      return <Timing server={server} />;
    case 'check':
      return <CheckScreen />;
    default:
      return (
        <Empty isScreen title="There is no such screen.">
          <a href={to()}>Go to the first one</a>
        </Empty>
      );
  }
}
