export { type CsvColumns, csvBody, csvFile } from './csv-file.ts'
export { type ErrorFile, errorFile, type ReportedRow } from './error-file.ts'
export { suggestMapping } from './mapping.ts'
export {
  type Batch,
  type Checkpoint,
  CsvError,
  type CsvErrorCode,
  type CsvFormat,
  type CsvLimits,
  defaultLimits,
  type Encoding,
  type Row,
  type RowError,
  type RowErrorCode,
} from './model.ts'
export { type ByteSource, type CsvReading, type OpenOptions, openCsv, type ReadOptions, readCsv } from './read.ts'
export {
  readBoolean,
  readDate,
  readEmail,
  readNumber,
  readOption,
  readTags,
  readText,
  type Value,
} from './values.ts'
export { csvRow, guard, joinTags, splitTags, unguard, writeCell } from './write.ts'
