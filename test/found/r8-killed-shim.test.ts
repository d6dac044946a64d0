import { expect, it, vi } from 'vitest';
import { command, shim, useDaemonHome } from '../../packages/gateway/test/support/daemon-home.js';
import { call } from '../support/messages.js';
import { eventually } from '../support/until.js';
import { notesFile, staying } from './support-ends.js';

const home = useDaemonHome();

it('R8: a busy shim that is killed counts as detached at once: its calls are cancelled, and the server is released', async () => {
  const notes = notesFile();
  const words = ['--grace', '0', ...command(home, ...staying(notes.file, 'heeds').slice(1))];
  const child = shim(home, ...words);
  child.send(call(1, 'wait'));
  await eventually(() => expect(notes.read()).toEqual(['call']));
  child.kill('SIGKILL');
  // It was after 10 s, the grace of calls whose client may still read.
  await vi.waitFor(() => expect(notes.read()).toEqual(['call', 'cancelled', 'end']), { timeout: 7000 });
});

it('R8: a shim whose host has closed its end and that is killed then counts as detached at once, too', async () => {
  const notes = notesFile();
  const words = ['--grace', '0', ...command(home, ...staying(notes.file, 'heeds').slice(1))];
  const child = shim(home, ...words);
  child.send(call(1, 'wait'));
  await eventually(() => expect(notes.read()).toEqual(['call']));
  child.end();
  child.kill('SIGKILL');
  await vi.waitFor(() => expect(notes.read()).toEqual(['call', 'cancelled', 'end']), { timeout: 7000 });
});
