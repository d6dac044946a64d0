// A client that logs in, and lets a shell open the page.
import { spawn } from 'node:child_process';
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { oauth } from '@isthmus/sdk/oauth';
import { address, play } from './steps.mjs';

const open = (url) => spawn(`"${process.env.BROWSER}" "${url.href}"`, { shell: true, stdio: 'ignore' });

await play(async () => {
  const client = await connect(http(address().url, { auth: oauth({ open }) }));
  return {
    list: () => client.listTools(),
    call: (name, args) => client.callTool(name, args),
    close: () => client.close(),
  };
});
