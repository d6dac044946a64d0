import { useState } from 'preact/hooks';
import type { QuestionAnswer, QuestionView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Button, Check } from '../parts/controls.js';
import { Address } from '../parts/external.js';
import { age } from '../parts/format.js';
import { Problem } from '../parts/states.js';
import { plain, Text } from '../parts/text.js';
import { to } from '../state/route.js';
import { may } from '../state/session.js';
import { questions } from '../state/store.js';
import { now } from '../state/time.js';
import { canKeep, keepPreset } from '../state/typed/presets.js';
import { ErrorAnswer } from './error-answer.js';
import { FormQuestion } from './form-question.js';
import { SamplingQuestion } from './sampling-question.js';

export interface AnswerProps {
  readonly question: QuestionView;
  readonly onAnswer: (answer: QuestionAnswer) => void;
  readonly isDisabled: boolean;
}

const TITLES = {
  form: 'asks',
  url: 'asks you to open a page',
  sampling: 'asks for a message of a model',
} as const;

/** A question of a server. It does not take the focus; declining is as easy as accepting. */
export function QuestionCard({ question }: { readonly question: QuestionView }) {
  const [error, setError] = useState<unknown>();
  const [isSent, setSent] = useState(false);
  const [isFailing, setFailing] = useState(false);
  const [isKept, setKept] = useState(false);
  const onAnswer = (answer: QuestionAnswer) => {
    setSent(true);
    if (isKept) keepPreset(question, answer);
    ask('POST questions/:id', { path: [question.id], body: answer }).then(
      () => questions.delete(question.id),
      (caught) => {
        setSent(false);
        setError(caught);
      },
    );
  };
  const isDisabled = isSent || !may('act');
  const name = `question-${question.id}`;
  return (
    <section class="question" role="alertdialog" aria-labelledby={name} aria-describedby={`${name}-about`}>
      <header class="question-head">
        <h2 id={name}>
          <span aria-hidden="true">? </span>
          {question.tool === undefined ? plain(question.asker, 80) : plain(question.tool, 80)}{' '}
          {TITLES[question.kind]}
        </h2>
        <span class="soft">
          <Text of={question.asker} max={80} />
          {question.call > 0 && (
            <>
              {' · '}
              <a href={to('call', question.call)}>{`call #${question.call}`}</a>
            </>
          )}
          {` · waits ${age(now.value - question.since)}`}
        </span>
      </header>
      <div id={`${name}-about`}>
        <Message params={question.params} />
      </div>
      {question.kind === 'form' && <FormQuestion {...{ question, onAnswer, isDisabled }} />}
      {question.kind === 'url' && <UrlQuestion {...{ question, onAnswer, isDisabled }} />}
      {question.kind === 'sampling' && <SamplingQuestion {...{ question, onAnswer, isDisabled }} />}
      <div class="actions start quiet-actions">
        {question.kind !== 'sampling' && (
          <>
            <Button disabled={isDisabled} onClick={() => onAnswer({ action: 'decline' })}>
              Decline
            </Button>
            <Button disabled={isDisabled} onClick={() => onAnswer({ action: 'cancel' })}>
              Cancel
            </Button>
          </>
        )}
        <Button disabled={isDisabled} pressed={isFailing} onClick={() => setFailing(!isFailing)}>
          Error…
        </Button>
        {canKeep(question) && may('act') && (
          <Check checked={isKept} onChange={setKept}>
            answer the same by itself from now on
          </Check>
        )}
      </div>
      {isFailing && <ErrorAnswer onAnswer={onAnswer} isDisabled={isDisabled} />}
      <Problem error={error} />
      {!may('act') && <p class="soft">You may look only. Somebody with the level act can answer.</p>}
    </section>
  );
}

function Message({ params }: { readonly params: QuestionView['params'] }) {
  const message = params['message'];
  if (typeof message !== 'string') return null;
  return (
    <p class="question-text">
      <Text of={message} max={2000} />
    </p>
  );
}

function UrlQuestion({ question, onAnswer, isDisabled }: AnswerProps) {
  const { url } = question.params;
  return (
    <div class="stack">
      <Address url={typeof url === 'string' ? url : ''} />
      <div class="actions start">
        <Button kind="primary" disabled={isDisabled} onClick={() => onAnswer({ action: 'accept' })}>
          I agree
        </Button>
      </div>
    </div>
  );
}
