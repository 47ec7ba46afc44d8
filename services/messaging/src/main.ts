import { runService } from '@rollcall/runtime'
import { readConfig } from './config.ts'
import { startMessaging } from './service.ts'

await runService({ name: 'messaging', config: readConfig, start: startMessaging })
