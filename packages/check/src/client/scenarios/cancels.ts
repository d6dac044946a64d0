import { dual, inEra } from '../behaviour/dual.js';
import { legacy } from '../behaviour/legacy.js';
import { echoOf, type ModernBehaviour, modern } from '../behaviour/modern.js';
import { ECHO, SLOW, textResult } from '../behaviour/tools.js';
import type { Scenario, Step } from '../model.js';
import type { ScriptTurn } from '../scripted/script-turn.js';

const STEPS: readonly Step[] = [
  { do: 'list' },
  { do: 'cancel', name: 'slow', afterMs: 300 },
  { do: 'call', name: 'echo' },
];

/** Servers with a tool that is given up, and that answers after all (where it can). */
export const CANCELS: readonly Scenario[] = [
  cancelling('cancel-modern', 'A modern server with a tool that is slow', ['modern'], modern),
  cancelling('cancel-legacy', 'A legacy server with a tool that is slow', ['legacy'], legacy),
  {
    ...cancelling(
      'cancel-late',
      'A server whose answer comes after the cancellation',
      ['modern', 'legacy'],
      dual,
    ),
    over: ['stdio'],
  },
];

const PAUSE_MS = 400;

function cancelling(
  name: string,
  title: string,
  serves: Scenario['serves'],
  server: typeof modern | typeof legacy,
): Scenario {
  return {
    name,
    title,
    over: ['stdio', 'http'],
    serves,
    steps: STEPS,
    open() {
      let slow: ScriptTurn | undefined;
      const manners: ModernBehaviour = {
        tools: [ECHO, SLOW],
        on: {
          'tools/call'(turn) {
            if (turn.params['name'] === 'slow') {
              slow = turn;
              return;
            }
            if (slow && turn.over === 'http') {
              // Time enough to see whether the other answer was closed before this one came.
              setTimeout(() => turn.reply(inEra(turn, echoOf(turn))), PAUSE_MS);
              return;
            }
            // Only where it shares the channel; an HTTP answer has gone with its connection.
            if (slow && name === 'cancel-late') slow.reply(inEra(slow, textResult('too late')));
            slow = undefined;
            return false;
          },
        },
      };
      return server(manners);
    },
  };
}
