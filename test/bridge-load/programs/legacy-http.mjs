// The official v1 SDK over HTTP with sessions: node legacy-http.mjs [PORT] prints its address on stdout.
// POST /forget drops all sessions, as a restart or an expiry does. They get 404 after that.
import { createServer } from 'node:http';
import { v1Sessions } from '../../support/official-v1-http.mjs';
import { tellAddress } from './common.mjs';
import { createV1 } from './v1-parts.mjs';

const { handle, forget } = v1Sessions(createV1);

tellAddress(
  createServer(async (request, response) => {
    if (request.url === '/forget') return response.end(String(await forget()));
    return handle(request, response);
  }),
);
