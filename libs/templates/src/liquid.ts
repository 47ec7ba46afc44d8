import { type Emitter, Liquid, LiquidError, type Template } from 'liquidjs'
import { MAX_OUTPUT_BYTES } from './limits.ts'

/** Tags that read other files. Templates of a mail have none. */
const FILE_TAGS = ['include', 'render', 'layout', 'block']
/** Characters and items that the filters of one output may produce in all. */
const MAX_FILTERED = 4 * 1024 * 1024
const MAX_MESSAGE_LENGTH = 200

/** Values are escaped in HTML; subjects and texts show them as they are. */
const engines = { html: createEngine(true), text: createEngine(false) }

export type Escaping = keyof typeof engines

/** Parses a template. Throws LiquidError. */
export function parseLiquid(source: string, escaping: Escaping): Template[] {
  return engines[escaping].parse(source)
}

/** Renders a parsed template. Throws LiquidError. */
export function renderLiquid(template: Template[], escaping: Escaping, variables: object): string {
  return engines[escaping].renderSync(template, variables)
}

/** Returns what is wrong with a template, for its author: `line L, column C: …`. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be rendered'
  const cause = LiquidError.is(error) ? (error.originalError ?? error) : error
  if (cause instanceof RangeError) return 'is nested too deeply or gets too large'
  const message = cause.message
    .replace(/, line:\d+, col:\d+$/, '')
    .replace('memory alloc limit exceeded', 'builds values that are too large')
    .slice(0, MAX_MESSAGE_LENGTH)
  if (!LiquidError.is(error)) return message
  const [line, column] = error.token.getPosition()
  return `line ${line}, column ${column}: ${message}`
}

function createEngine(isHtml: boolean): Liquid {
  const engine = new Liquid({
    ...(isHtml && { outputEscape: 'escape' }),
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: false,
    memoryLimit: MAX_FILTERED,
    templates: {},
    timezoneOffset: 0,
    locale: 'en-US',
  })
  for (const tag of FILE_TAGS) delete engine.tags[tag]
  limitOutput(engine)
  return engine
}

/** Limits whatever collects output, the tag `capture` included: the engine's own limit counts filters only. */
function limitOutput({ renderer }: Liquid): void {
  const renderTemplates = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = (templates, context, emitter = createEmitter()) =>
    renderTemplates(templates, context, emitter)
}

function createEmitter(): Emitter {
  return {
    buffer: '',
    write(value) {
      const text = stringify(value)
      if (this.buffer.length + text.length > MAX_OUTPUT_BYTES) throw new Error('output is larger than 256 KiB')
      this.buffer += text
    },
  }
}

function stringify(value: unknown): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.map(stringify).join('') : String(value)
}
