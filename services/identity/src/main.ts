import { runService } from '@rollcall/runtime'
import { readConfig } from './config.ts'
import { startIdentity } from './service.ts'

await runService({ name: 'identity', config: readConfig, start: startIdentity })
