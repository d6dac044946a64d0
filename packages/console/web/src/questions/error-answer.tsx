import { useState } from 'preact/hooks';
import { Button } from '../parts/controls.js';
import type { AnswerProps } from './question-card.js';

/** Answers with a JSON-RPC error. */
export function ErrorAnswer({ onAnswer, isDisabled }: Pick<AnswerProps, 'onAnswer' | 'isDisabled'>) {
  const [code, setCode] = useState('-1');
  const [message, setMessage] = useState('The user rejected the request');
  const isCode = /^-?\d{1,9}$/.test(code);
  return (
    <div class="row-form">
      <label>
        <span>code</span>
        <input
          type="text"
          class="number"
          value={code}
          aria-invalid={!isCode}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
      </label>
      <label class="grow">
        <span>message</span>
        <input type="text" value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
      </label>
      <Button
        kind="danger"
        disabled={isDisabled || !isCode}
        onClick={() => onAnswer({ error: { code: Number(code), message } })}
      >
        Send the error
      </Button>
    </div>
  );
}
