import { place } from '../state/route.js';
import { Callers } from './callers.js';
import { Recording } from './recording.js';
import { ServerPage } from './server-page.js';
import { Servers } from './servers.js';
import { Settings } from './settings.js';

/** The screens that only a gateway has. */
export function GatewayScreen() {
  const [first, name = '', ...rest] = place.value.parts;
  if (first === 'server') return <ServerPage key={name} name={name} rest={rest} />;
  if (first === 'callers') return <Callers />;
  if (first === 'settings') return <Settings />;
  return (
    <div class="stack wide-gap">
      <Servers />
      <Recording />
    </div>
  );
}
