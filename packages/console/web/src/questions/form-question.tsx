import { useState } from 'preact/hooks';
import { firstState, formProblem, SchemaForm, stateFor, textOfForm } from '../forms/form.js';
import { type FormSchema, isRecord } from '../forms/schema.js';
import { Button } from '../parts/controls.js';
import { useKeys } from '../parts/use-keys.js';
import { isMac } from '../state/keys.js';
import type { AnswerProps } from './question-card.js';

/** What was answered to the same question before: a preset for the next time. */
const before = new Map<string, string>();

export function FormQuestion({ question, onAnswer, isDisabled }: AnswerProps) {
  const { requestedSchema } = question.params;
  const schema: FormSchema = isRecord(requestedSchema) ? requestedSchema : { type: 'object' };
  const key = JSON.stringify([question.asker, question.tool, schema]);
  const [state, setState] = useState(() => firstState(schema, true));
  const problem = formProblem(state);
  const accept = () => {
    if (isDisabled || problem !== undefined) return;
    const content = textOfForm(state);
    before.set(key, content);
    if (before.size > 100) before.delete(before.keys().next().value!);
    onAnswer({ action: 'accept', content });
  };
  useKeys([{ keys: 'mod+Enter', say: 'Accept the question', run: accept }]);
  return (
    <div class="stack">
      <SchemaForm schema={schema} state={state} onChange={setState} label="Answer" />
      <div class="actions start">
        <Button
          kind="primary"
          keys={isMac ? '⌘⏎' : 'Ctrl ⏎'}
          disabled={isDisabled || problem !== undefined}
          onClick={accept}
        >
          Accept
        </Button>
        {before.has(key) && (
          <Button onClick={() => setState(stateFor(schema, before.get(key)!))}>As last time</Button>
        )}
      </div>
    </div>
  );
}
