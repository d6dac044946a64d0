import { useState } from 'preact/hooks';
import type { ConnectionView } from '../../../../src/contract.js';
import { Era } from '../../parts/era.js';
import { Address } from '../../parts/external.js';
import { age, since } from '../../parts/format.js';
import { Head, Panel } from '../../parts/layout.js';
import { Loading, Problem } from '../../parts/states.js';
import { plain, Text } from '../../parts/text.js';
import { upstream } from '../../state/connection.js';
import { to } from '../../state/route.js';
import { hello, may } from '../../state/session.js';
import { now } from '../../state/time.js';
import { ChooseServer } from './choose-server.js';
import { Eras } from './eras.js';
import { Failed } from './failed.js';
import { Offers } from './offers.js';
import { SpeakAs } from './speak-as.js';
import { TryLine } from './try-line.js';
import { Why } from './why.js';

/** The first screen: what is it, which era does it speak and why, what can it do. */
export function Overview() {
  const connection = upstream.value;
  const target = hello.value?.target;
  const [error, setError] = useState<unknown>();
  if (target?.names && !connection) return <ChooseServer names={target.names} />;
  if (!connection) return <Connecting label={target?.label ?? ''} />;
  const { serverInfo, verdict, problem } = connection;
  const name = serverInfo?.title ?? serverInfo?.name ?? target?.label ?? connection.label;
  return (
    <div class="stack wide-gap">
      <Head title={plain(name, 100)} sub={<Sub connection={connection} />}>
        {may('act') && <SpeakAs connection={connection} onError={setError} />}
      </Head>
      {target?.file && <FileNote file={target.file} />}
      {connection.ended && !problem && !target?.file && (
        <Panel tone="info" label="It has ended">
          <p>
            The connection has ended. The next call opens it again
            {connection.transport === 'stdio' && ', and starts the command'}.
          </p>
        </Panel>
      )}
      {problem && <Failed connection={connection} problem={problem} />}
      {error !== undefined && !problem && <Problem error={error} />}
      {verdict && <Eras connection={connection} />}
      {verdict && <Why verdict={verdict} />}
      {verdict && <Offers connection={connection} />}
      {connection.instructions !== undefined && (
        <Panel title="Instructions for models">
          <p class="about-text">
            <Text of={connection.instructions} />
          </p>
        </Panel>
      )}
      {verdict && !target?.file && <TryLine />}
      {!verdict && !problem && <Asking connection={connection} />}
    </div>
  );
}

function Sub({ connection }: { readonly connection: ConnectionView }) {
  const { serverInfo, transport, pid, state, lastAnswer, ended, problem } = connection;
  return (
    <span class="dots">
      {serverInfo && <span>{`version ${plain(serverInfo.version, 40)}`}</span>}
      <span>{transport}</span>
      {pid !== undefined && <span>{`pid ${pid}`}</span>}
      {connection.era && <Era era={connection.era} revision={connection.revision} />}
      {state === 'open' && lastAnswer !== undefined && (
        <span>{`answered ${since(now.value - lastAnswer)}`}</span>
      )}
      {ended && !problem && <span>{`ended: ${plain(ended.why, 120)}`}</span>}
      {serverInfo?.websiteUrl !== undefined && <Address url={serverInfo.websiteUrl} />}
    </span>
  );
}

/** It has not answered yet: how long that takes already, and where its traces are. */
function Asking({ connection: { began, frames, transport } }: { readonly connection: ConnectionView }) {
  return (
    <Panel title="Connecting …" side={<span class="soft">{age(now.value - began)}</span>} label="Connecting">
      <p>
        The server was asked which era it speaks. It has not answered yet.
        {transport === 'stdio' && ' Some commands need a while for their first start.'}
      </p>
      <p class="dots">
        {frames[0] > 0 && <a href={to('wire')}>See what was sent, and what came</a>}
        <a href={to('logs')}>See its logs</a>
      </p>
    </Panel>
  );
}

function Connecting({ label }: { readonly label: string }) {
  return (
    <div class="stack">
      <Head title={plain(label, 200)} />
      <Loading what="Connecting to the server" />
    </div>
  );
}

function FileNote({
  file,
}: {
  readonly file: { readonly name: string; readonly savedAt: number; readonly redacted: boolean };
}) {
  return (
    <Panel tone="info">
      <p>
        This is the file <code>{plain(file.name)}</code>, written {new Date(file.savedAt).toLocaleString()}
        {file.redacted ? ', with its secrets replaced' : ', with everything in it'}. Everything can be looked
        at, and nothing can be sent.
      </p>
    </Panel>
  );
}
