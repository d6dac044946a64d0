import { useState } from 'preact/hooks';
import { Messages } from '../calls/messages.js';
import { jsonProblem } from '../forms/raw-field.js';
import { tryRaw } from '../json/raw.js';
import { Button, Segments } from '../parts/controls.js';
import { JsonTree } from '../parts/json-tree.js';
import { Text } from '../parts/text.js';
import type { AnswerProps } from './question-card.js';

/** A request for a message of a model, answered by hand. */
export function SamplingQuestion({ question, onAnswer, isDisabled }: AnswerProps) {
  const { messages, systemPrompt, ...rest } = question.params;
  const [as, setAs] = useState<'text' | 'json'>('text');
  const [text, setText] = useState('');
  const [model, setModel] = useState('by-hand');
  const [stopReason, setStopReason] = useState('endTurn');
  const [json, setJson] = useState('');
  const result = () =>
    as === 'json'
      ? json
      : JSON.stringify({
          role: 'assistant',
          content: { type: 'text', text },
          model,
          ...(stopReason !== '' && { stopReason }),
        });
  const problem = as === 'json' ? jsonProblem(json) : undefined;
  const raw = tryRaw(JSON.stringify(rest));
  return (
    <div class="stack">
      {typeof systemPrompt === 'string' && (
        <p class="soft">
          system: <Text of={systemPrompt} max={1000} />
        </p>
      )}
      <Messages messages={Array.isArray(messages) ? messages : []} />
      {raw && <JsonTree raw={raw} label="What else the server says" open={1} />}
      <Segments
        label="How you answer"
        value={as}
        choices={[
          { value: 'text', say: 'Text' },
          { value: 'json', say: 'JSON' },
        ]}
        onChange={(next) => {
          if (next === 'json' && json === '') setJson(JSON.stringify(JSON.parse(result()), null, 2));
          setAs(next);
        }}
      />
      {as === 'text' ? (
        <>
          <label class="stack">
            <span>Answer of the assistant</span>
            <textarea rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          <div class="row-form">
            <label>
              <span>model</span>
              <input type="text" value={model} onInput={(event) => setModel(event.currentTarget.value)} />
            </label>
            <label>
              <span>stop reason</span>
              <input
                type="text"
                value={stopReason}
                onInput={(event) => setStopReason(event.currentTarget.value)}
              />
            </label>
          </div>
        </>
      ) : (
        <>
          <textarea
            class="mono json"
            rows={8}
            aria-label="Result as JSON"
            spellcheck={false}
            value={json}
            onInput={(event) => setJson(event.currentTarget.value)}
          />
          {problem !== undefined && <p class="field-advice">{problem}</p>}
        </>
      )}
      <div class="actions start">
        <Button
          kind="primary"
          disabled={isDisabled || problem !== undefined}
          onClick={() => onAnswer({ result: result() })}
        >
          Answer
        </Button>
      </div>
    </div>
  );
}
