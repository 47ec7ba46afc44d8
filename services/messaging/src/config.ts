import { busConfig, saslIsComplete } from '@rollcall/bus'
import { parseKeyRing } from '@rollcall/credentials'
import { address, rpcServerConfig } from '@rollcall/rpc'
import { baseConfig, loadConfig, milliseconds, parsedBy, urlOf, whole } from '@rollcall/runtime'
import { storeConfig } from '@rollcall/store'
import { z } from 'zod'
import { parseServers } from './dns/server-address.ts'
import { mailConfig } from './mail/config.ts'

const hostname = () =>
  z.string().regex(/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/, { error: 'expected the name of a host, in lower case' })

const schema = z
  .object({
    ...baseConfig,
    ...storeConfig('rollcall_messaging'),
    ...busConfig,
    ...rpcServerConfig,
    /** Keys that stored secrets are encrypted with; the first one encrypts, the others are for what is not yet rotated. */
    SECRET_KEYS: parsedBy(parseKeyRing, '<name>:<base64 of at least 32 bytes>, or several separated by commas'),
    /** Servers that every DNS question goes to; without it the system's find out, and each zone's own are asked. */
    DNS_SERVERS: parsedBy(parseServers, 'IP addresses, also with a port, separated by commas').optional(),
    /** What an organization's mail provider is until it chooses one. */
    DEFAULT_PROVIDER: z.enum(['none', 'self-hosted'], { error: 'expected none or self-hosted' }).default('none'),
    /** Our own mail servers, that self-hosted domains refer to; the other names follow from it unless they are given. */
    MAIL_HOST: hostname().optional(),
    SPF_INCLUDE: hostname().optional(),
    RETURN_PATH_HOST: hostname().optional(),
    MX_HOST: hostname().optional(),
    /** Where Mailgun is, by region. */
    MAILGUN_US_URL: urlOf('http', 'https').default('https://api.mailgun.net'),
    MAILGUN_EU_URL: urlOf('http', 'https').default('https://api.eu.mailgun.net'),
    /** How often a verified domain is looked up. */
    DOMAIN_CHECK_MS: milliseconds().default(6 * 3_600_000),
    /** A domain is degraded after so many failures in a row, over so long. */
    DOMAIN_FAILURES: whole(1, 1000).default(4),
    DOMAIN_FAILING_MS: milliseconds().default(24 * 3_600_000),
    /** Least time between two checks of one domain's DNS records; longer than a check takes (6 s), so that one runs at a time; 0: none. */
    DNS_CHECK_SECONDS: whole(0, 3600).default(10),
    /** How many domains and senders an organization may have. */
    DOMAINS_PER_ORGANIZATION: whole(1, 100_000).default(100),
    SENDERS_PER_ORGANIZATION: whole(1, 100_000).default(1000),
    /** Where identity is. */
    IDENTITY_ADDRESS: address(),
    /** Where browsers reach the API: providers of mail accounts send people back there. */
    PUBLIC_URL: urlOf('http', 'https').default('http://localhost:8080'),
    /** Where people use the product: its /connect-account finishes connecting a mail account. Default: the API's own page. */
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
        message: 'expected where DEFAULT_PROVIDER is self-hosted',
        input: undefined,
      })
  })

/** The settings of the messaging service. */
export type Config = z.infer<typeof schema>

/** Reads the settings. @throws {ConfigError} naming every bad variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return loadConfig(schema, env)
}
