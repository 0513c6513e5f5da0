-- Every script includes this file first: names of keys, constants, and lists of fields that several scripts share. A line
-- `--#define NAME TEXT` replaces NAME with TEXT in all later lines. ScriptText does this before the script is sent to Redis, so
-- definitions cost no time when the script runs. A definition uses no variable except `prefix`.

-- The only key that every script gets: `{<namespace>}:`, the prefix of all keys.
local prefix = KEYS[1]

-- Keys and channels of the cluster, see Keys.swift. KEY_BATCH, KEY_READY and KEY_WORKER are followed by `..` and a batch id, a
-- priority or a worker id.
--#define KEY_CONTROL prefix .. 'control'
--#define KEY_BATCHES prefix .. 'batches'
--#define KEY_OPEN prefix .. 'open'
--#define KEY_BATCH prefix .. 'batch:'
--#define KEY_READY prefix .. 'ready:'
--#define KEY_LEASES prefix .. 'leases'
--#define KEY_DEFERRED prefix .. 'deferred'
--#define KEY_WORKERS prefix .. 'workers'
--#define KEY_WORKER prefix .. 'worker:'
--#define KEY_OUTPUTS prefix .. 'outputs'
--#define KEY_NAMES prefix .. 'names'
--#define KEY_EXPIRING prefix .. 'expiring'
--#define KEY_FORGOTTEN prefix .. 'forgotten'
--#define KEY_RELEASES prefix .. 'releases'
--#define KEY_WEBHOOKS prefix .. 'webhooks'
--#define KEY_STALE_FILES prefix .. 'stale.files'
--#define KEY_TOTALS prefix .. 'totals'
--#define KEY_HISTORY prefix .. 'history'
--#define KEY_REPAIR prefix .. 'repair'
--#define KEY_REPAIR_WANTED prefix .. 'repair.wanted'
--#define KEY_REPAIR_ROUND prefix .. 'repair.round'
--#define KEY_REPAIR_STATES prefix .. 'repair.states'
--#define CHANNEL_CONTROL prefix .. 'control'
--#define CHANNEL_EVENTS prefix .. 'events'

-- The other keys of a worker or a batch begin with the key of its hash.
--#define REFUSED ':refused'
--#define STATES ':states'
--#define OPERATIONS ':operations'
--#define QUEUE ':queue'
--#define EXECUTING ':executing'
--#define LEASE_EXPIRIES ':lease.expiries'
--#define RETRIES ':retries'
--#define FAILURES ':failures'
--#define REASONS ':reasons'
--#define DEPENDENCIES ':dependencies'
--#define DEPENDENTS ':dependents'

-- Fields of a batch's hash.
--#define FOCUS_FIELDS 'focus.first', 'focus.last', 'focus.only'
--#define COUNT_FIELDS 'count.downloaded', 'count.filtered', 'count.failed', 'count.cancelled'
--#define OUTCOME_FIELDS 'state', 'flag.cancelled', 'count.failed'

-- Fields of `totals`, in the order of a sample of the history.
--#define TOTAL_FIELDS 'photos.filtered', 'photos.failed', 'photos.cancelled', 'bytes.in', 'bytes.out'

-- Fields of `control`.
--#define LIMIT_FIELDS 'downloads.limit', 'filtrations.limit'

-- The priorities, the lowest first.
--#define PRIORITIES 'veryLow', 'low', 'normal', 'high', 'veryHigh'

-- The maximum number of photos of a batch, which is also the maximum number of its operations (see StoredBounds.swift).
--#define MOST_PHOTOS 536870912

-- The members of a queue are operation numbers. An operation that can be claimed has its number as its score. A deferred operation,
-- which can be claimed later, has DEFERRED plus the retention clock time at which it is due. No operation is deferred for
-- longer than MOST_DEFERRAL, in ms.
--#define CLAIMABLE '-inf', MOST_PHOTOS
--#define DEFERRED 1099511627776
--#define MOST_DEFERRAL 3600000

-- The state codes of failed photos, as a part of a set in a pattern: '[FAILURE_CODES]'. The same definition in Swift is
-- FailureReason.isStateCode.
--#define FAILURE_CODES a-z\128-\255
