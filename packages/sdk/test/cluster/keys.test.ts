import { describe, expect, it } from 'vitest';
import { createClusterKeys } from '../../src/cluster/cluster-keys.js';
import { mintSessionId, newMemberId, openerOf, sessionKey } from '../../src/cluster/session-id.js';

const OLD = 'the old secret, which is long enough';
const NEW = 'the new secret, which is long enough';

describe('the keys of a cluster', () => {
  it('open what any of them has sealed, and the first one seals', () => {
    const [before, during, after] = [
      createClusterKeys(OLD),
      createClusterKeys([NEW, OLD]),
      createClusterKeys(NEW),
    ];
    const sealed = before.sealer('record', 'x').seal(Buffer.from('hello'));
    expect(during.sealer('record', 'x').open(sealed)?.toString()).toBe('hello');
    expect(after.sealer('record', 'x').open(sealed)).toBeUndefined();
    const fresh = during.sealer('record', 'x').seal(Buffer.from('hello'));
    expect(after.sealer('record', 'x').open(fresh)?.toString()).toBe('hello');
    expect(before.sealer('record', 'x').open(fresh)).toBeUndefined();
  });

  it('seal again with the first one what another one has sealed, and nothing else', () => {
    const [before, during, after] = [OLD, [NEW, OLD], NEW].map((secrets) =>
      createClusterKeys(secrets).sealer('record', 'x'),
    );
    const sealed = before!.seal(Buffer.from('hello'));
    const renewed = during!.renew(sealed)!;
    expect(after!.open(renewed)?.toString()).toBe('hello');
    expect(during!.renew(renewed)).toBeUndefined();
    expect(after!.renew(sealed)).toBeUndefined();
    expect(during!.renew(Buffer.from('forged'))).toBeUndefined();
  });

  it('do not open a value of another purpose or context, or one that was altered', () => {
    const keys = createClusterKeys(OLD);
    const sealed = keys.sealer('record', 'a').seal(Buffer.from('hello'));
    expect(keys.sealer('record', 'b').open(sealed)).toBeUndefined();
    expect(keys.sealer('events', 'a').open(sealed)).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed);
      altered[at]! ^= 1;
      expect(keys.sealer('record', 'a').open(altered)).toBeUndefined();
    }
    expect(keys.sealer('record', 'a').open(sealed.subarray(0, 20))).toBeUndefined();
  });

  it('tell parts of a message apart', () => {
    const keys = createClusterKeys(OLD);
    const mac = keys.mac('peer', 'ab', 'c');
    expect(keys.verify('peer', mac, 'ab', 'c')).toBe(true);
    expect(keys.verify('peer', mac, 'a', 'bc')).toBe(false);
    expect(keys.verify('rate', mac, 'ab', 'c')).toBe(false);
    expect(keys.verify('peer', mac.subarray(0, 15), 'ab', 'c')).toBe(false);
  });

  it('need secrets that are long enough', () => {
    expect(() => createClusterKeys('short')).toThrow('A secret of a cluster has at least 32 characters');
    expect(() => createClusterKeys([])).toThrow('A cluster needs a secret');
  });
});

describe('the id of a session', () => {
  const keys = createClusterKeys([NEW, OLD]);
  const place = { place: '/mcp', principal: 'key:ada' };
  const id = mintSessionId(keys, 'aaaaaaaa', place);

  it('has 54 characters, and names the member that made it', () => {
    expect(id).toMatch(/^aaaaaaaa\.[\w-]{22}\.[\w-]{22}$/);
    expect(openerOf(keys, id, place)).toBe('aaaaaaaa');
    expect(newMemberId()).toMatch(/^[a-z2-7]{8}$/);
  });

  it('is known with an old secret', () => {
    const old = mintSessionId(createClusterKeys(OLD), 'aaaaaaaa', place);
    expect(openerOf(keys, old, place)).toBe('aaaaaaaa');
  });

  it('is of no use with another member, place or principal, nor with another proof', () => {
    expect(openerOf(keys, id.replace('aaaaaaaa', 'bbbbbbbb'), place)).toBeUndefined();
    expect(openerOf(keys, id, { ...place, place: '/other' })).toBeUndefined();
    expect(openerOf(keys, id, { ...place, principal: 'key:eve' })).toBeUndefined();
    expect(openerOf(keys, id, { ...place, principal: undefined })).toBeUndefined();
    const other = mintSessionId(keys, 'aaaaaaaa', place);
    const moved = [...id.split('.').slice(0, 2), other.split('.')[2]].join('.');
    expect(openerOf(keys, moved, place)).toBeUndefined();
    expect(openerOf(keys, `${id}x`, place)).toBeUndefined();
    expect(openerOf(keys, '', place)).toBeUndefined();
  });

  it('of a client without a name is not that of a client with an empty name', () => {
    const anonymous = mintSessionId(keys, 'aaaaaaaa', { place: '/mcp', principal: undefined });
    expect(openerOf(keys, anonymous, { place: '/mcp', principal: '' })).toBeUndefined();
  });

  it('is not shown to the store', () => {
    expect(sessionKey(id)).toMatch(/^[\w-]{22}$/);
    expect(id).not.toContain(sessionKey(id));
  });
});
