import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { excerptOf } from '@isthmus/sdk/internal/transport/http-client/read-answer.js';
import { afterEach, describe, expect, it } from 'vitest';
import { cpuMsOf } from '../support/cpu-time.js';

const MIB = 1024 * 1024;
const servers: { close(): void }[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('S1: an error page of an upstream', () => {
  it.each([
    ['of opening brackets', '<'.repeat(MIB)],
    ['of tags that are not closed', '<a'.repeat(MIB / 2)],
    ['of scripts that are not closed', '<script>'.repeat(MIB / 8)],
    ['of styles that are not closed', '<STYLE>'.repeat(MIB / 8)],
    ['of closing tags without an end', '</style '.repeat(MIB / 8)],
    ['of spaces', `${' '.repeat(MIB - 1)}x`],
    ['of control characters', '\u0001 '.repeat(MIB / 2)],
  ])('takes less than 200 ms of CPU when it is a mebibyte %s', (_, page) => {
    const body = Buffer.from(page);
    expect(cpuMsOf(() => excerptOf(body))).toBeLessThan(200);
  });

  it('is shown by its first words', () => {
    expect(excerptOf(Buffer.from('<H1>Bad gateway</H1><STYLE>p{}</STYLE><p>try < 3 times</p>'))).toBe(
      'Bad gateway try < 3 times',
    );
    expect(excerptOf(Buffer.from('İİ<script>var a = 1</script>visible'))).toBe('İİ visible');
  });

  it.each([200, 404, 502])(
    'with status %i fails the connection with a clear error, and the event loop goes on',
    async (status) => {
      const url = await serving(status, '<'.repeat(MIB));
      const before = process.cpuUsage();
      await expect(connect(http(url))).rejects.toThrow(status === 200 ? 'instead of JSON' : `HTTP ${status}`);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(2000);
    },
  );
});

async function serving(status: number, page: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end(page);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
