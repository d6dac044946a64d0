import { createHash } from 'node:crypto';
import { MAX_LOG_BYTES, MAX_LOG_ENTRIES } from '../store.js';

/** A script that runs inside of Redis, all at once. Its keys are in one slot. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

export function script(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Redis has the only clock that all members share. In milliseconds, with a fraction. */
const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
`;

/**
 * KEYS: live, facts, fenced, version. ARGV: member, ttl, facts or '', the version that the caller knows.
 * Returns whether the member was known, whether it is fenced, the version, all facts if the version differs, and the time.
 */
export const BEAT = script(`${NOW}
if not redis.REDIS_VERSION_NUM then return redis.error_reply('a cluster needs Redis 7 or Valkey') end
local function changed() redis.call('INCR', KEYS[4]) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local silent = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)
for _, member in ipairs(silent) do
  redis.call('ZREM', KEYS[1], member)
  redis.call('HDEL', KEYS[2], member)
  changed()
end
-- A Redis that evicts may have one key without the other.
local known = redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1
local fenced = redis.call('ZSCORE', KEYS[3], ARGV[1])
if not fenced then
  if ARGV[3] ~= '' and redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[3] then
    redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
    changed()
  end
  if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
    redis.call('ZADD', KEYS[1], string.format('%.3f', now + ARGV[2]), ARGV[1])
  end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 3600000) end
local version = redis.call('GET', KEYS[4]) or '0'
if version == ARGV[4] then return { known and 1 or 0, fenced and 1 or 0, version, {}, math.floor(now) } end
local all = {}
for _, member in ipairs(redis.call('HKEYS', KEYS[2])) do
  if redis.call('ZSCORE', KEYS[1], member) then
    all[#all + 1] = member
    all[#all + 1] = redis.call('HGET', KEYS[2], member)
  else
    redis.call('HDEL', KEYS[2], member)
  end
end
return { known and 1 or 0, fenced and 1 or 0, version, all, math.floor(now) }
`);

/** KEYS: live, facts, fenced, version. ARGV: member, how long it is remembered as fenced (0: it left by itself). */
export const REMOVE_MEMBER = script(`${NOW}
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
if ARGV[2] ~= '0' then
  redis.call('ZADD', KEYS[3], string.format('%.3f', now + ARGV[2]), ARGV[1])
  redis.call('PEXPIRE', KEYS[3], 3600000)
end
redis.call('INCR', KEYS[4])
redis.call('PEXPIRE', KEYS[4], 3600000)
return 1
`);

/** KEYS: record. ARGV: by, from, ttl. */
export const CLAIM = script(`
local owner, epoch = unpack(redis.call('HMGET', KEYS[1], 'o', 'e'))
if not epoch then return { 'unknown' } end
if owner ~= '' and owner ~= ARGV[1] and owner ~= ARGV[2] then return { 'held', owner, epoch } end
epoch = epoch + 1
redis.call('HSET', KEYS[1], 'o', ARGV[1], 'e', epoch)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'mine', epoch, redis.call('HGET', KEYS[1], 'v') }
`);

/** KEYS: record. ARGV: epoch, value, ttl, by. A later epoch wins. A record that was lost is written again. */
export const PUT = script(`
local epoch = redis.call('HGET', KEYS[1], 'e')
if epoch and tonumber(epoch) > tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'o', ARGV[4], 'e', ARGV[1], 'v', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);

/** KEYS: record. ARGV: ttl. */
export const TOUCH = script(`return redis.call('PEXPIRE', KEYS[1], ARGV[1])`);

/** KEYS: record. ARGV: by, epoch. Returns whether there is a record. */
export const RELEASE = script(`
local owner, epoch = unpack(redis.call('HMGET', KEYS[1], 'o', 'e'))
if not epoch then return 0 end
if owner == ARGV[1] and epoch == ARGV[2] then redis.call('HSET', KEYS[1], 'o', '') end
return 1
`);

/** KEYS: record, log, size of the log. ARGV: epoch. */
export const DROP = script(`
local epoch = redis.call('HGET', KEYS[1], 'e')
if epoch and tonumber(epoch) > tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return 1
`);

/** KEYS: log, its size in bytes. ARGV: ttl, entries. A Redis that evicts may have one key without the other. */
export const APPEND = script(`
local size = redis.call('EXISTS', KEYS[1]) == 1 and tonumber(redis.call('GET', KEYS[2])) or 0
local count = 0
for i = 2, #ARGV do
  count = redis.call('RPUSH', KEYS[1], ARGV[i])
  size = size + #ARGV[i]
end
while count > 1 and (count > ${MAX_LOG_ENTRIES} or size > ${MAX_LOG_BYTES}) do
  size = size - #redis.call('LPOP', KEYS[1])
  count = count - 1
end
redis.call('SET', KEYS[2], size, 'PX', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`);

/** KEYS: log. */
export const READ = script(`return redis.call('LRANGE', KEYS[1], 0, -1)`);

/** KEYS: note. ARGV: ttl, value. Without a value the note is deleted. */
export const NOTE = script(`
if ARGV[2] then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1]) else redis.call('DEL', KEYS[1]) end
return 1
`);

/** KEYS: note. */
export const RECALL = script(`return redis.call('GET', KEYS[1])`);

/** KEYS: bucket, kept as the moment at which it is full again (GCRA). ARGV: wanted, everyMs, burst. */
export const TAKE = script(`${NOW}
local wanted, every, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = tonumber(redis.call('GET', KEYS[1]) or '0')
full = math.min(math.max(full, now), now + burst * every)
local granted = math.min(wanted, math.floor(burst - (full - now) / every + 0.000001))
if granted < 1 then return { 0, math.ceil(full + every - burst * every - now) } end
full = full + granted * every
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.max(1, math.ceil(full - now)))
return { granted, 0 }
`);
