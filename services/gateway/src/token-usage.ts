import type { Route } from '@rollcall/contract'
import type {
  RecordUsageRequest,
  RecordUsageRequestRefusedToken,
  RecordUsageRequestUse,
  RecordUsageRequestUsedToken,
} from '@rollcall/protos/gen/identity-v1.ts'
import { type Client, serviceCaller } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Authenticated, Authorized } from './exchange.ts'

/** Maximum tokens per report. Uses and refusals of further tokens are not counted. */
const MAX_TOKENS = 10_000
const TOKENS_PER_CALL = 500
/** Timeout of one call. Only the stop of the process waits for a report. */
const TIMEOUT_MS = 3_000

/** Uses of a token by permission, `resource.action`. */
type Used = Omit<RecordUsageRequestUsedToken, 'tokenId' | 'uses'> & { uses: Map<string, RecordUsageRequestUse> }

/** Counts the uses of tokens, and reports them and refused uses to identity at intervals. */
export type TokenUsage = {
  /** Counts a request that passed the guard, in memory. */
  note(exchange: Authorized): void
  /** Notes the first request of a token from an address that it does not allow, in memory. */
  noteRefused(exchange: Authenticated): void
  /** Sends the last report. */
  stop(): Promise<void>
}

/** What `startTokenUsage` needs. */
export type TokenUsageOptions = {
  identity: Pick<Client<'rollcall.identity.v1.TokenUsage'>, 'recordUsage'>
  /** Interval of reports, in milliseconds. */
  everyMs: number
  logger: Logger
}

/** Starts counting. A report that fails is dropped, and affects neither requests nor the next report. */
export function startTokenUsage({ identity, everyMs, logger }: TokenUsageOptions): TokenUsage {
  let tokens = new Map<string, Used>()
  let refused = new Map<string, RecordUsageRequestRefusedToken>()
  let reporting: Promise<void> | undefined

  const report = async (): Promise<void> => {
    const gathered = [...tokens]
    const refusals = [...refused.values()]
    tokens = new Map()
    refused = new Map()
    try {
      while (gathered.length > 0 || refusals.length > 0) {
        const deadline = Date.now() + TIMEOUT_MS
        const message = messageOf(gathered.slice(0, TOKENS_PER_CALL), refusals.slice(0, TOKENS_PER_CALL))
        await identity.recordUsage(message, { caller: serviceCaller('gateway'), deadline })
        gathered.splice(0, TOKENS_PER_CALL)
        refusals.splice(0, TOKENS_PER_CALL)
      }
    } catch (err) {
      logger.warn({ err, tokens: gathered.length, refusals: refusals.length }, 'token usage not recorded')
    }
  }
  const reportOnce = (): Promise<void> => {
    reporting ??= report().finally(() => {
      reporting = undefined
    })
    return reporting
  }
  const timer = setInterval(reportOnce, everyMs).unref()

  return {
    note({ caller, match, ip }) {
      if (caller.tokenId === undefined) return
      const now = Date.now()
      const used = tokens.get(caller.tokenId)
      if (used) {
        used.lastUsedAt = now
        used.lastUsedIp = ip
        count(used.uses, match.route, now)
      } else if (tokens.size < MAX_TOKENS) {
        const { tokenId, organizationId } = caller
        const used: Used = { organizationId, lastUsedAt: now, lastUsedIp: ip, uses: new Map() }
        count(used.uses, match.route, now)
        tokens.set(tokenId, used)
      }
    },

    noteRefused({ caller: { organizationId, tokenId }, ip, id: requestId }) {
      if (tokenId === undefined || refused.has(tokenId) || refused.size >= MAX_TOKENS) return
      refused.set(tokenId, { organizationId, tokenId, refusedAt: Date.now(), ip, requestId })
    },

    async stop() {
      clearInterval(timer)
      await reporting
      await reportOnce()
    },
  }
}

/** Counts a use. Routes without a permission are not counted. */
function count(uses: Used['uses'], { access }: Route, now: number): void {
  if (access.kind !== 'permission') return
  const { resource, action } = access
  const use = uses.get(`${resource}.${action}`)
  if (use) {
    use.count++
    use.lastAt = now
  } else uses.set(`${resource}.${action}`, { resource, action, count: 1, lastAt: now })
}

function messageOf(gathered: readonly [string, Used][], refused: RecordUsageRequestRefusedToken[]): RecordUsageRequest {
  return { tokens: gathered.map(([tokenId, used]) => ({ ...used, tokenId, uses: [...used.uses.values()] })), refused }
}
