import { runService } from '@rollcall/runtime'
import { readConfig } from './config.ts'
import { startAudience } from './service.ts'

await runService({ name: 'audience', config: readConfig, start: startAudience })
