import { defineService } from '@rollcall/service'
import { collections } from './collections.ts'
import { queueSettings, readConfig } from './config.ts'
import { createContext } from './context.ts'
import { expireFailuresJob } from './imports/expire-failures.job.ts'
import { importJob } from './imports/import.job.ts'
import { imports } from './imports/imports.ts'
import { personalData } from './personal-data.ts'

/** The import service: uploads, and the jobs that send their rows to the audience. */
export const service = defineService({
  name: 'import',
  config: readConfig,
  collections,
  context: createContext,
  handlers: context => ({ 'rollcall.import.v1.Imports': imports(context) }),
  personalData,
  jobs: (context, { config }) => [
    importJob(context, queueSettings(config), config.IMPORT_CONCURRENCY),
    expireFailuresJob(context),
  ],
})
