import { Button } from '../parts/controls.js';
import { Era } from '../parts/era.js';
import { age, percent, plural } from '../parts/format.js';
import { plain } from '../parts/text.js';
import { upstream } from '../state/connection.js';
import { isMac } from '../state/keys.js';
import { to } from '../state/route.js';
import { hello, isGateway, line } from '../state/session.js';
import { status } from '../state/store.js';
import { nextTheme } from '../state/theme.js';
import { now } from '../state/time.js';

export function Header({
  onHelp,
  onPalette,
}: {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}) {
  return (
    <header class="top">
      <a class="brand" href={to()}>
        <Mark />
        <span class="brand-name">{isGateway() ? 'isthmus gateway' : 'isthmus inspect'}</span>
      </a>
      <div class="top-state">{isGateway() ? <GatewayState /> : <ServerState />}</div>
      <div class="top-tools">
        <Button kind="quiet" keys={isMac ? '⌘K' : 'Ctrl K'} title="Go to anything" onClick={onPalette}>
          Go to
        </Button>
        <Button kind="quiet" keys="?" title="Show all shortcuts" onClick={onHelp}>
          Keys
        </Button>
        <Button kind="quiet" title="Light or dark" onClick={nextTheme}>
          <span aria-hidden="true">◐</span>
          <span class="unseen">Light or dark</span>
        </Button>
      </div>
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect class="mark-legacy" x="2" y="9" width="12" height="14" rx="3" />
      <circle class="mark-modern" cx="24" cy="16" r="6" />
      <rect class="mark-bridge" x="13" y="14.5" width="6" height="3" />
    </svg>
  );
}

function ServerState() {
  const connection = upstream.value;
  const target = hello.value?.target;
  if (!connection) return <span class="soft">{plain(target?.label ?? '', 100)}</span>;
  const { serverInfo, state, era } = connection;
  const name = serverInfo?.title ?? serverInfo?.name ?? connection.label;
  const isLive = state === 'open' && line.value.state === 'open' && !hello.value?.readOnly;
  return (
    <>
      <strong class="top-name">{plain(name, 80)}</strong>
      {era && <Era era={era} />}
      <span
        class={`dot ${isLive ? 'pass' : state === 'connecting' ? 'warn' : hello.value?.readOnly ? '' : 'fail'}`}
      >
        {hello.value?.readOnly
          ? 'file'
          : state === 'open'
            ? 'connected'
            : state === 'connecting'
              ? 'connecting'
              : 'not connected'}
      </span>
    </>
  );
}

function GatewayState() {
  const view = status.value;
  if (!view) return <span class="soft">reading the status …</span>;
  const ready = view.servers.filter(({ state }) => state === 'ready').length;
  return (
    <>
      <span
        class={`dot ${view.ready ? 'pass' : 'warn'}`}
      >{`${ready} of ${plural(view.servers.length, 'server')} ready`}</span>
      <span class="soft top-extra">{`${view.callsPerSecond.toFixed(1)} calls/s · ${percent(view.errorShare)} errors`}</span>
      <span class="soft top-extra">{`pid ${view.pid} · up ${age(now.value - view.startedAt)}`}</span>
      <span class="soft top-extra">{`${plain(hello.value?.who ?? '', 40)} may ${hello.value?.levels.join(', ')}`}</span>
    </>
  );
}
