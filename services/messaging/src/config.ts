import { busConfig, saslIsComplete } from '@rollcall/bus'
import { parseHashKeys, parseKeyRing } from '@rollcall/credentials'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, milliseconds, parsedBy, urlOf, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'
import { parseServers, parseZones } from './dns/server-address.ts'
import { mailConfig } from './mail/config.ts'

const hostname = () =>
  z.string().regex(/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/, { error: 'expected the name of a host, in lower case' })

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_messaging'),
    ...busConfig,
    ...rpcServerConfig,
    /** Keys for stored secrets: the first one encrypts, the others decrypt secrets that are not rotated yet. */
    SECRET_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** Keys for the links of mails: the first one signs, all verify. Links in mails that were sent need their key for ever. */
    LINK_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** Keys to hash erased addresses that are suppressed, the current one first: those of the audience. */
    ERASURE_KEYS: parsedBy(parseHashKeys, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** Resolvers for all DNS queries. Default: each zone's own servers, found by the system's resolvers. */
    DNS_SERVERS: parsedBy(parseServers, 'IP addresses, also with a port, separated by commas').optional(),
    /** Zones that are queried at a server of their own, for trying domains that DNS does not know. */
    DNS_ZONES: parsedBy(parseZones, '<zone>=<IP address>, also with a port, or several separated by commas').optional(),
    /** Mail provider of organizations that have not chosen one. */
    DEFAULT_PROVIDER: z.enum(['none', 'self-hosted'], { error: 'expected none or self-hosted' }).default('none'),
    /** Host of the installation's mail server, for self-hosted domains; default for the names below. */
    MAIL_HOST: hostname().optional(),
    SPF_INCLUDE: hostname().optional(),
    RETURN_PATH_HOST: hostname().optional(),
    MX_HOST: hostname().optional(),
    /** Base URLs of Mailgun, by region. */
    MAILGUN_US_URL: urlOf('http', 'https').default('https://api.mailgun.net'),
    MAILGUN_EU_URL: urlOf('http', 'https').default('https://api.eu.mailgun.net'),
    /** Interval between DNS checks of a verified domain. */
    DOMAIN_CHECK_MS: milliseconds().default(6 * 3_600_000),
    /** A domain is degraded after this many consecutive failures over at least this time. */
    DOMAIN_FAILURES: whole(1, 1000).default(4),
    DOMAIN_FAILING_MS: milliseconds().default(24 * 3_600_000),
    /**
     * Minimum interval between checks of a domain's DNS records; 0: none. Above 6 s, checks of a domain never overlap.
     */
    DNS_CHECK_SECONDS: whole(0, 3600).default(10),
    /** Quotas for domains and senders per organization. */
    DOMAINS_PER_ORGANIZATION: whole(1, 100_000).default(100),
    SENDERS_PER_ORGANIZATION: whole(1, 100_000).default(1000),
    /** Address of the identity service. */
    IDENTITY_ADDRESS: address(),
    /** Address of the audience service. */
    AUDIENCE_ADDRESS: address(),
    /** Address of the campaigns service, for templates. */
    CAMPAIGNS_ADDRESS: address(),
    /** Public base URL of the API, for redirects from OAuth providers. */
    PUBLIC_URL: urlOf('http', 'https').default('http://localhost:8080'),
    /**
     * Base URL of the console, whose /connect-account completes connecting a mail account. Default: the API's own page.
     */
    CONSOLE_URL: urlOf('http', 'https').optional(),
    ...mailConfig,
  })
  .check(saslIsComplete)
  .check(context => {
    const { DEFAULT_PROVIDER, MAIL_HOST } = context.value
    if (DEFAULT_PROVIDER === 'self-hosted' && MAIL_HOST === undefined)
      context.issues.push({
        code: 'custom',
        path: ['MAIL_HOST'],
        message: 'required if DEFAULT_PROVIDER is self-hosted',
        input: undefined,
      })
  })

/** Settings of the messaging service. */
export type Config = z.infer<typeof schema>

/**
 * Reads the settings.
 * @throws {ConfigError} naming every invalid variable
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
