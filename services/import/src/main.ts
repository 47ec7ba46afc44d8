import { runService } from '@rollcall/runtime'
import { readConfig } from './config.ts'
import { startImport } from './service.ts'

await runService({ name: 'import', config: readConfig, start: startImport })
