import { runService } from '@rollcall/runtime'
import { readConfig } from './config.ts'
import { startGateway } from './service.ts'

await runService({ name: 'gateway', atEdge: true, config: readConfig, start: startGateway })
