import { describe, expect, it } from 'vitest';
import { clientKey } from '../../src/exchange/client-key.js';

describe('the name under which fair limits count a sender', () => {
  it.each([
    [{ principal: 'alice', remote: '10.0.0.1' }, 'principal alice'],
    [{ principal: undefined, remote: '10.0.0.1' }, 'address 10.0.0.1'],
    [{ principal: undefined, remote: '::ffff:10.0.0.1' }, 'address 10.0.0.1'],
    [{ principal: undefined, remote: '::1' }, 'address ::1'],
    [{ principal: undefined, remote: '2001:db8:1:2:3:4:5:6' }, 'address 2001:db8:1:2::/64'],
    [{ principal: undefined, remote: '2001:db8:1:2::9' }, 'address 2001:db8:1:2::/64'],
    [{ principal: undefined, remote: '2001:db8::9' }, 'address 2001:db8:0:0::/64'],
    [{ principal: undefined, remote: 'fe80::1%eth0' }, 'address fe80:0:0:0::/64'],
    [{ principal: undefined, remote: 'connection 7' }, 'address connection 7'],
    [{ principal: undefined, remote: undefined }, 'local'],
  ])('of %j is %s', (sender, key) => {
    expect(clientKey(sender)).toBe(key);
  });
});
