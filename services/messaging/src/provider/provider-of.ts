import { AppError } from '@rollcall/contract'
import type { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { createMailgun } from './mailgun.ts'
import type { MailgunAccount } from './mailgun-http.ts'
import type { MailProvider } from './port.ts'
import { apiKeyPlace, type Provider, type ProviderKind, type Region } from './provider.model.ts'
import { createSelfHosted } from './self-hosted.ts'

/** The settings of an organization's provider, or the installation's default. */
export type Choice = Pick<Provider, 'apiKey' | 'region' | 'domain' | 'webhookSigningKey'> & { kind: ProviderKind }

/** Returns the provider settings of an organization, or null if there are none. */
export async function chosenProvider(context: Context, organizationId: string): Promise<Choice | null> {
  const record = await context.collections.of(organizationId).providers.findOne({})
  if (record) return record.kind === null ? null : { ...record, kind: record.kind }
  const { DEFAULT_PROVIDER: kind } = context.config
  return kind === 'none' ? null : { kind, apiKey: null, region: null, domain: null }
}

/**
 * Returns the mail provider of an organization.
 * @throws {AppError} provider.not_configured
 */
export async function providerOf(context: Context, organizationId: string): Promise<MailProvider> {
  const choice = await chosenProvider(context, organizationId)
  if (!choice) throw new AppError('provider.not_configured')
  if (choice.kind === 'self-hosted') return createSelfHosted(mailHosts(context))
  return createMailgun(accountOf(context, organizationId, choice))
}

/** Returns the organization's account at the hosted provider, or null if it has another provider or none. */
export async function mailgunAccount(
  context: Context,
  organizationId: string | Types.ObjectId,
): Promise<MailgunAccount | null> {
  const choice = await chosenProvider(context, String(organizationId))
  return choice?.kind === 'mailgun' ? accountOf(context, String(organizationId), choice) : null
}

/** Returns Mailgun's base URL for a region. */
export function regionUrl({ config }: Pick<Context, 'config'>, region: Region): string {
  return region === 'eu' ? config.MAILGUN_EU_URL : config.MAILGUN_US_URL
}

/**
 * Returns the names of the installation's mail servers.
 * @throws {AppError} provider.not_offered if there are none
 */
export function mailHosts({ config }: Pick<Context, 'config'>) {
  const { MAIL_HOST: host, SPF_INCLUDE, RETURN_PATH_HOST, MX_HOST } = config
  if (host === undefined) throw new AppError('provider.not_offered')
  return {
    spfInclude: SPF_INCLUDE ?? `_spf.${host}`,
    returnPath: RETURN_PATH_HOST ?? `bounce.${host}`,
    mx: MX_HOST ?? `mx.${host}`,
  }
}

function accountOf(context: Context, organizationId: string, { apiKey, region }: Choice): MailgunAccount {
  if (!apiKey) throw new AppError('provider.key_missing')
  return {
    apiUrl: regionUrl(context, region ?? 'us'),
    apiKey: context.secrets.open(apiKey, apiKeyPlace(organizationId)),
  }
}
