import { script } from '../../../cluster/redis/scripts.js';

/**
 * All keys of a store are in one slot, since they have the prefix KEYS[1] with a hash tag. A task is a hash: b body,
 * r revision, c client, o owner or '', z size. Counters are kept beside the tasks, so that bounds cost no search.
 */
const COMMON = `
local P = KEYS[1]
local function key(part) return P .. ':' .. part end
local function task(id) return P .. ':task:' .. id end
local function tell(id) redis.call('SPUBLISH', key('changes'), id) end
local function account(client, tasks, bytes)
  redis.call('HINCRBY', key('total'), 'tasks', tasks)
  redis.call('HINCRBY', key('total'), 'bytes', bytes)
  redis.call('ZINCRBY', key('bytes'), bytes, client)
  if tonumber(redis.call('ZINCRBY', key('tasks'), tasks, client)) <= 0 then
    redis.call('ZREM', key('tasks'), client)
    redis.call('ZREM', key('bytes'), client)
  end
end
local function drop(id)
  local client, owner, size = unpack(redis.call('HMGET', task(id), 'c', 'o', 'z'))
  redis.call('ZREM', key('expiry'), id)
  redis.call('HDEL', key('live'), id)
  if not client then return end
  redis.call('DEL', task(id))
  redis.call('ZREM', key('done:' .. client), id)
  redis.call('ZREM', key('owner:' .. owner), id)
  account(client, -1, -size)
  tell(id)
end
local function oldest(client, spared)
  for _, id in ipairs(redis.call('ZRANGE', key('done:' .. client), 0, 1)) do
    if id ~= spared then return id end
  end
end
local function victim(part, spared)
  local at = 0
  while true do
    local clients = redis.call('ZREVRANGE', key(part), at, at + 49)
    if #clients == 0 then return nil end
    for _, client in ipairs(clients) do
      local id = oldest(client, spared)
      if id then return id end
    end
    at = at + 50
  end
end
local function makeRoom(maxTasks, maxBytes, spared)
  while true do
    local tasks, bytes = unpack(redis.call('HMGET', key('total'), 'tasks', 'bytes'))
    local tooLarge = tonumber(bytes) > maxBytes
    if not tooLarge and tonumber(tasks) <= maxTasks then return true end
    local id = victim(tooLarge and 'bytes' or 'tasks', spared)
    if not id then return false end
    drop(id)
  end
end
`;

/** ARGV: id, body, revision, client, owner, worker, createdAt, maxTasks, maxBytes. A repeated call changes nothing. */
export const CREATE_TASK = script(`${COMMON}
local id = ARGV[1]
if redis.call('EXISTS', task(id)) == 1 then return 'created' end
redis.call('HSET', task(id), 'b', ARGV[2], 'r', ARGV[3], 'c', ARGV[4], 'o', ARGV[5], 'z', #ARGV[2])
redis.call('HSET', key('live'), id, ARGV[6])
if ARGV[5] ~= '' then redis.call('ZADD', key('owner:' .. ARGV[5]), ARGV[7], id) end
account(ARGV[4], 1, #ARGV[2])
if makeRoom(tonumber(ARGV[8]), tonumber(ARGV[9]), id) then return 'created' end
drop(id)
return 'full'
`);

/** ARGV: id, body, revision, expiresAt or '' while it runs, worker, maxTasks, maxBytes. */
export const REPLACE_TASK = script(`${COMMON}
local id = ARGV[1]
local client, size, revision = unpack(redis.call('HMGET', task(id), 'c', 'z', 'r'))
if not revision then return 'gone' end
if tonumber(revision) ~= tonumber(ARGV[3]) - 1 then return 'stale' end
redis.call('HSET', task(id), 'b', ARGV[2], 'r', ARGV[3], 'z', #ARGV[2])
account(client, 0, #ARGV[2] - size)
if ARGV[4] ~= '' then
  redis.call('HDEL', key('live'), id)
  redis.call('ZADD', key('expiry'), ARGV[4], id)
  redis.call('ZADD', key('done:' .. client), redis.call('HINCRBY', key('total'), 'ended', 1), id)
else
  redis.call('HSET', key('live'), id, ARGV[5])
end
makeRoom(tonumber(ARGV[6]), tonumber(ARGV[7]), id)
tell(id)
return 'replaced'
`);

/** ARGV: id. */
export const GET_TASK = script(`${COMMON} return redis.call('HGET', task(ARGV[1]), 'b')`);

/**
 * ARGV: owner, most tasks, most bytes, and for a later page createdAt and id. Members of equal score are in the order of
 * their names. Returns 1 if there are more, and then the bodies.
 */
export const LIST_TASKS = script(`${COMMON}
local list = key('owner:' .. ARGV[1])
local limit, left = tonumber(ARGV[2]), tonumber(ARGV[3])
local from = ARGV[4] or '-inf'
local found, at = { 0 }, 0
while true do
  local page = redis.call('ZRANGEBYSCORE', list, from, '+inf', 'WITHSCORES', 'LIMIT', at, 200)
  if #page == 0 then return found end
  for i = 1, #page, 2 do
    if not ARGV[5] or tonumber(page[i + 1]) > tonumber(from) or page[i] > ARGV[5] then
      left = left - tonumber(redis.call('HGET', task(page[i]), 'z') or 0)
      if #found > limit or (#found > 1 and left < 0) then
        found[1] = 1
        return found
      end
      found[#found + 1] = redis.call('HGET', task(page[i]), 'b')
    end
  end
  at = at + 200
end
`);

/** ARGV: worker, until. */
export const BEAT_WORKER = script(`${COMMON} return redis.call('HSET', key('workers'), ARGV[1], ARGV[2])`);

/** ARGV: worker. */
export const READ_WORKER = script(`${COMMON} return redis.call('HGET', key('workers'), ARGV[1])`);

/** ARGV: now. Drops up to a thousand expired tasks, and returns the unfinished ones of dead workers. */
export const REVIEW_TASKS = script(`${COMMON}
local now = tonumber(ARGV[1])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', key('expiry'), '-inf', now, 'LIMIT', 0, 1000)) do drop(id) end
local alive = {}
local workers = redis.call('HGETALL', key('workers'))
for i = 1, #workers, 2 do
  if tonumber(workers[i + 1]) > now then alive[workers[i]] = true
  else redis.call('HDEL', key('workers'), workers[i]) end
end
local abandoned = {}
local live = redis.call('HGETALL', key('live'))
for i = 1, #live, 2 do
  if not alive[live[i + 1]] then abandoned[#abandoned + 1] = live[i] end
end
return abandoned
`);
