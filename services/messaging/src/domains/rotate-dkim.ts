import { AppError, type HttpBody, json } from '@rollcall/contract'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import type { Context } from '../context.ts'
import { providerOf } from '../provider/provider-of.ts'
import { newRecord, storedKey } from './create-domain.ts'
import { publicDomain } from './domain.model.ts'
import { isRecordOf } from './inspect.ts'
import { newSelector } from './selector.ts'

/** Creates the next DKIM key; replaces the current one if it has never signed. */
export async function rotateDkim(context: Context, id: string, { caller }: Call): Promise<HttpBody> {
  const { domains } = context.collections.of(caller.organizationId)
  const domain = await domains.get(id, 'domain')
  const { _id, revision, dkimKeys, sendingRecords, status } = domain
  if (dkimKeys.some(({ state }) => state === 'next')) throw new AppError('domain.key_pending')
  const provider = await providerOf(context, caller.organizationId)
  const taken = dkimKeys.map(({ selector }) => selector)
  const key = await provider.addKey(domain.domain, newSelector(caller.organizationId, taken))
  const record = newRecord(key.record, true)
  const isUnused = status === 'pending'
  const change = isUnused
    ? {
        dkimKeys: [storedKey(context, domain, key, 'active')],
        sendingRecords: [...sendingRecords.filter(old => !taken.some(selector => isRecordOf(old, selector))), record],
      }
    : {
        dkimKeys: [...dkimKeys, storedKey(context, domain, key, 'next')],
        sendingRecords: [...sendingRecords, record],
      }
  return context.store.transaction(async tx => {
    const update = { $set: change, $inc: { revision: 1 } }
    const rotated = await domains.findOneAndUpdate({ _id, revision }, update, { tx })
    if (!rotated) throw new AppError('domain.changed')
    const shown = publicDomain(rotated)
    await addEvents(tx, [event('email.domain.key_rotated', rotated, { domain: shown, actor: actorOf(caller) })])
    return json(shown)
  })
}
