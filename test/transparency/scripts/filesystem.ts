import { call, cannotBeAskedEarly, hear, request, type Step } from '../script.js';

/** With the reference server `server-filesystem`, on a folder of its own. */
export const filesystemScript = (folder: string): readonly Step[] => [
  // It asks for roots when it was connected to, and works there from then on.
  hear('roots', 'roots/list', cannotBeAskedEarly),
  request('list tools', 'tools/list'),
  request('list resources', 'resources/list'),
  request('list prompts', 'prompts/list'),
  call('list_allowed_directories'),
  call('create_directory', { path: `${folder}/sub` }),
  call('write_file', { path: `${folder}/sub/a.txt`, content: 'one\ntwo\nthree\n' }),
  call('read_text_file', { path: `${folder}/sub/a.txt`, head: 2 }),
  call('read_media_file', { path: `${folder}/sub/a.txt` }),
  call('read_multiple_files', { paths: [`${folder}/sub/a.txt`, `${folder}/sub/missing.txt`] }),
  call('edit_file', { path: `${folder}/sub/a.txt`, edits: [{ oldText: 'two', newText: 'zwei' }] }),
  call('directory_tree', { path: folder }),
  call('search_files', { path: folder, pattern: '**/*.txt' }),
  call('move_file', { source: `${folder}/sub/a.txt`, destination: `${folder}/b.txt` }),
  call('list_directory', { path: folder }),
  call('read_text_file', { path: '/etc/passwd' }),
  call('read_text_file', {}),
  call('no_such_tool'),
  request('a method that nobody knows', 'no/such/method'),
];
