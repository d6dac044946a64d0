import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { homePage } from '../../src/http/home-page.js';
import { openGateway } from '../support/open-gateway.js';

const WEATHER = {
  kind: 'command',
  name: 'weather',
  command: process.execPath,
  args: ['-e', ''],
  env: {},
  cwd: process.cwd(),
  start: 'lazy',
} as const;

function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
    const asked = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, type: response.headers['content-type'] ?? '', text }),
      );
    });
    asked.on('error', reject).end();
  });
}

describe('N14: the page at /', () => {
  it('N14: says what this is and how to connect, to a browser and to curl', async () => {
    const { url } = await openGateway([WEATHER]);
    const { origin, host } = new URL(url);
    const page = await get(`${origin}/`, { accept: 'text/html,*/*' });
    expect(page).toMatchObject({ status: 200, type: 'text/html; charset=utf-8' });
    expect(page.text).toContain(`<pre>http://${host}/mcp</pre>`);
    expect(page.text).toContain(`claude mcp add --transport http isthmus http://${host}/mcp`);
    const plain = await get(`${origin}/`);
    expect(plain).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8' });
    expect(plain.text).toContain(`MCP address:  http://${host}/mcp\n`);
    expect(page.text + plain.text).not.toContain('weather');
  });

  it('N14: is refused for a foreign Host, and is only for reading', async () => {
    const { url } = await openGateway([WEATHER]);
    const { origin } = new URL(url);
    expect((await get(`${origin}/`, { host: 'evil.example' })).status).toBe(403);
    expect((await get(`${origin}/`, {}, 'POST')).status).toBe(404);
  });

  it('N14: escapes the address', () => {
    expect(homePage('http://a"<b>/mcp', true).text).not.toContain('<b>');
  });
});
