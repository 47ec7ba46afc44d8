import { AppError, json, updated } from '@rollcall/contract'
import type { Sealed } from '@rollcall/credentials'
import type { ProviderJson, SetProviderRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Caller, type Handlers } from '@rollcall/rpc'
import {
  type Aggregate,
  addEvents,
  changedFields,
  changesBetween,
  event,
  isDuplicate,
  type OutgoingEvent,
  objectId,
} from '@rollcall/store'
import type { Context } from '../context.ts'
import { parseDomainName } from '../domains/domain-name.ts'
import { createMailgun } from './mailgun.ts'
import { apiKeyPlace, type Provider, signingKeyPlace } from './provider.model.ts'
import { type Choice, chosenProvider, mailHosts, regionUrl } from './provider-of.ts'

/** Handlers of the organization's mail provider. */
export const providers = (context: Context): Handlers<'rollcall.messaging.v1.Providers'> => ({
  getProvider: async (_request, { caller }) =>
    json(publicProvider(context, caller.organizationId, await chosenProvider(context, caller.organizationId))),

  setProvider: (request, call) => setProvider(context, request, call),

  deleteProvider: async (_request, { caller }) => {
    const choice = await chosenProvider(context, caller.organizationId)
    if (!choice) throw new AppError('provider.not_found')
    const { kind } = choice
    const none = { kind: null, ...noSettings }
    await save(context, caller, none, about => event('email.provider.deleted', about, { kind, actor: actorOf(caller) }))
    return json(publicProvider(context, caller.organizationId, choice))
  },
})

async function setProvider(context: Context, request: SetProviderRequest, { caller }: Call): Promise<Updated> {
  const { organizationId } = caller
  const known = await chosenProvider(context, organizationId)
  const settings =
    request.kind === 'mailgun'
      ? await mailgunSettings(context, request, organizationId, known)
      : selfHostedSettings(context, request)
  const { kind, region, domain } = settings
  const [before, after] = [known ?? {}, { kind: kind!, region, domain }]
  const changes = changesBetween(changedFields(before, after), before, after)
  const data = { kind: kind!, ...(region && { region }), ...(domain && { domain }), changes, actor: actorOf(caller) }
  await save(context, caller, settings, about => event('email.provider.updated', about, data))
  return updated()
}

type Settings = Pick<Provider, 'kind' | 'apiKey' | 'region' | 'domain' | 'webhookSigningKey'>

const noSettings = { apiKey: null, webhookSigningKey: null, region: null, domain: null }

function selfHostedSettings(context: Context, request: SetProviderRequest): Settings {
  for (const path of ['apiKey', 'region', 'domain', 'webhookSigningKey'] as const) {
    if (request[path] !== undefined) throw new AppError('request.extra_field', { path })
  }
  mailHosts(context)
  return { kind: 'self-hosted', ...noSettings }
}

/** Checks the key before it is stored. Keeps the old key if there is no new one. */
async function mailgunSettings(
  context: Context,
  request: SetProviderRequest,
  organizationId: string,
  known: Choice | null,
): Promise<Settings> {
  const region = request.region ?? known?.region ?? 'us'
  const domain = request.domain === undefined ? (known?.domain ?? null) : parseDomainName(request.domain, 'domain')
  const apiKey = request.apiKey ?? storedKey(context, organizationId, known)
  if (apiKey === null) throw new AppError('request.missing_field', { path: 'apiKey' })
  await createMailgun({ apiUrl: regionUrl(context, region), apiKey }).checkKey()
  const sealed: Sealed = context.secrets.seal(apiKey, apiKeyPlace(organizationId))
  const signingKey = request.webhookSigningKey
  const webhookSigningKey =
    signingKey === undefined
      ? (known?.webhookSigningKey ?? null)
      : context.secrets.seal(signingKey, signingKeyPlace(organizationId))
  return { kind: 'mailgun', apiKey: sealed, webhookSigningKey, region, domain }
}

function storedKey({ secrets }: Context, organizationId: string, known: Choice | null): string | null {
  return known?.apiKey ? secrets.open(known.apiKey, apiKeyPlace(organizationId)) : null
}

/** Stores the settings with the event. */
async function save(
  context: Context,
  { organizationId }: Caller,
  settings: Settings,
  eventAbout: (organization: Aggregate) => OutgoingEvent,
): Promise<void> {
  const { providers } = context.collections.of(organizationId)
  const _id = objectId(organizationId)
  const write = () =>
    context.store.transaction(async tx => {
      await providers.updateOne({}, { $set: settings }, { upsert: true, tx })
      await addEvents(tx, [eventAbout({ _id, organization: _id })])
    })
  await write().catch(error => {
    if (!isDuplicate(error)) throw error
    return write() // created by a concurrent call
  })
}

function publicProvider({ links }: Context, organizationId: string, choice: Choice | null): ProviderJson {
  if (!choice) return { kind: null, configured: false }
  const { kind, region, domain } = choice
  return {
    kind,
    configured: true,
    ...(region !== null && { region }),
    ...(domain !== null && { domain }),
    ...(kind === 'mailgun' && { webhookUrl: links.reportUrl(organizationId) }),
  }
}
