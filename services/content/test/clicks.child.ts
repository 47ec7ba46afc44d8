// Counts clicks in a process that tests kill. Arguments: the interval of the recorder in milliseconds.
import { createLifecycle, createLogger } from '@rollcall/runtime'
import { Types } from 'mongoose'
import { readConfig } from '../src/config.ts'
import { createClickRecorder } from '../src/links/click-recorder.ts'
import { service } from '../src/service.ts'

const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const logger = createLogger({ service: 'content', level: 'silent' })
const lifecycle = createLifecycle({ service: 'content', logger })
const { store, collections } = await service.open(readConfig(), lifecycle)
const { metrics } = lifecycle
const flushMs = Number(process.argv[2])
const recorder = createClickRecorder({ store, collections, countryOf: undefined, logger, metrics, flushMs })

/** Notes clicks of as many visitors, as a redirect does. */
process.on(
  'message',
  ({ link, organization, visitors }: { link: string; organization: string; visitors: string[] }) => {
    const place = { _id: new Types.ObjectId(link), organization: new Types.ObjectId(organization) }
    for (const ip of visitors) recorder.record(place, { at: new Date(), ip, userAgent: USER_AGENT, referrer: '' })
    process.send!('noted')
  },
)
process.send!('ready')
