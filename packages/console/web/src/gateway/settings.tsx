import { useEffect, useState } from 'preact/hooks';
import type { SettingsView } from '../../../src/contract.js';
import { ask } from '../api.js';
import { Head, Panel } from '../parts/layout.js';
import { Loading, Problem } from '../parts/states.js';
import { OptionName, plain, Text } from '../parts/text.js';
import { status } from '../state/store.js';

/** The configuration as it was taken over. Values of variables and headers are never here. */
export function Settings() {
  const [view, setView] = useState<SettingsView | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    ask('GET settings', {}).then(setView, setError);
  }, [status.value?.configProblem, status.value?.servers.length]);
  if (!view) return error === undefined ? <Loading what="Reading the settings" /> : <Problem error={error} />;
  return (
    <div class="stack wide-gap">
      <Head
        title="Settings"
        sub="As they were taken over. Values of variables and headers are never shown. Files are changed in an editor, not here."
      />
      {view.problems.map(({ file, line, column, message }, at) => (
        <Problem
          key={at}
          error={`${[file, line, column].filter((each) => each !== undefined).join(':')} ${message}`}
        />
      ))}
      <Panel title="Gateway">
        <dl class="facts">
          <div>
            <dt>files</dt>
            <dd>
              {view.files.map((file) => plain(file, 200)).join(', ') || 'none: it runs from its command line'}
            </dd>
          </div>
          <div>
            <dt>listening</dt>
            <dd>{view.listening.map((address) => plain(address, 200)).join(', ')}</dd>
          </div>
          <div>
            <dt>authentication</dt>
            <dd>{view.auth.join(' · ') || 'none'}</dd>
          </div>
          <div>
            <dt>console</dt>
            <dd>{`${plain(view.console.address, 100)}, recording is ${view.console.recording}`}</dd>
          </div>
          {view.console.keys.length > 0 && (
            <div>
              <dt>keys</dt>
              <dd>
                {view.console.keys
                  .map(({ name, levels }) => `${plain(name, 40)} (${levels.join(', ')})`)
                  .join(', ')}
              </dd>
            </div>
          )}
        </dl>
      </Panel>
      {view.warnings.length > 0 && (
        <Panel title="Warnings of the configuration" tone="warn">
          <ul class="plain-list">
            {view.warnings.map((warning) => (
              <li key={warning}>
                <Text of={warning} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {view.servers.map(({ name, kind, what, secrets, options }) => {
        const others = Object.entries(options).filter(([, value]) => !isEmpty(value));
        return (
          <Panel key={name} title={plain(name, 60)} side={<span class="soft">{kind}</span>}>
            <dl class="facts">
              <div>
                <dt>{kind === 'url' ? 'address' : 'program'}</dt>
                <dd>
                  <code>
                    <Text of={what} max={400} />
                  </code>
                </dd>
              </div>
              <div>
                <dt>{kind === 'url' ? 'headers' : 'variables'}</dt>
                <dd>{secrets.map((secret) => plain(secret, 80)).join(', ') || 'none'}</dd>
              </div>
              {others.map(([option, value]) => (
                <div key={option}>
                  <dt>
                    <OptionName of={option} />
                  </dt>
                  <dd>
                    <Text of={inWords(value)} max={600} />
                  </dd>
                </div>
              ))}
            </dl>
          </Panel>
        );
      })}
    </div>
  );
}

/** `maxConcurrent 4 · maxQueue 10`. What is nested deeper stays JSON. */
function inWords(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, each]) => `${name} ${typeof each === 'string' ? each : JSON.stringify(each)}`)
    .join(' · ');
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
