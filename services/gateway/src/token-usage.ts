import type { Route } from '@rollcall/contract'
import type {
  RecordUsageRequest,
  RecordUsageRequestUse,
  RecordUsageRequestUsedToken,
} from '@rollcall/protos/gen/identity-v1.ts'
import { type Client, serviceCaller } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import type { Authorized } from './exchange.ts'

/** Tokens to remember between two reports. Uses of those beyond are not counted. */
const maxTokens = 10_000
const tokensPerCall = 500
/** Nobody waits for a report but the end of the process. */
const timeoutMs = 3_000

/** Uses by permission, `resource.action`. */
type Used = Omit<RecordUsageRequestUsedToken, 'tokenId' | 'uses'> & { uses: Map<string, RecordUsageRequestUse> }

/** Counts what tokens are used for, and tells identity now and then. */
export type TokenUsage = {
  /** Notes a request that the guard let pass: a few operations on maps in memory. */
  note(exchange: Authorized): void
  /** Makes the last report. */
  stop(): Promise<void>
}

/** What the counting needs. */
export type TokenUsageOptions = {
  identity: Pick<Client<'rollcall.identity.v1.TokenUsage'>, 'recordUsage'>
  /** Time between two reports, in milliseconds. */
  everyMs: number
  logger: Logger
}

/** Starts to count. A report that fails is lost: it costs neither a request nor the next report anything. */
export function startTokenUsage({ identity, everyMs, logger }: TokenUsageOptions): TokenUsage {
  let tokens = new Map<string, Used>()
  let reporting: Promise<void> | undefined

  const report = async (): Promise<void> => {
    const gathered = [...tokens]
    tokens = new Map()
    try {
      while (gathered.length > 0) {
        const deadline = Date.now() + timeoutMs
        const message = messageOf(gathered.slice(0, tokensPerCall))
        await identity.recordUsage(message, { caller: serviceCaller('gateway'), deadline })
        gathered.splice(0, tokensPerCall)
      }
    } catch (err) {
      logger.warn({ err, tokens: gathered.length }, 'what tokens were used for was not recorded')
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
      } else if (tokens.size < maxTokens) {
        const { tokenId, organizationId } = caller
        const used: Used = { organizationId, lastUsedAt: now, lastUsedIp: ip, uses: new Map() }
        count(used.uses, match.route, now)
        tokens.set(tokenId, used)
      }
    },

    async stop() {
      clearInterval(timer)
      await reporting
      await reportOnce()
    },
  }
}

/** Routes that concern the caller alone use no permission. */
function count(uses: Used['uses'], { access }: Route, now: number): void {
  if (access.kind !== 'permission') return
  const { resource, action } = access
  const use = uses.get(`${resource}.${action}`)
  if (use) {
    use.count++
    use.lastAt = now
  } else uses.set(`${resource}.${action}`, { resource, action, count: 1, lastAt: now })
}

function messageOf(gathered: readonly [string, Used][]): RecordUsageRequest {
  return { tokens: gathered.map(([tokenId, used]) => ({ ...used, tokenId, uses: [...used.uses.values()] })) }
}
