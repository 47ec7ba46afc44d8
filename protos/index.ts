import { fileURLToPath } from 'node:url'

export type { Services } from './gen/services.ts'

/** Folder of the .proto files: the root that their imports are relative to. */
export const protoFolder = fileURLToPath(new URL('.', import.meta.url))
