import { escapePattern } from '../kit/escape-pattern.ts'
import type { Conditions } from '../kit/list-search.ts'

/** What a field holds, which decides its operators. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'date' | 'choice' | 'tags' | 'lists'
/** A field that rules can name. One that is optional can have no value. */
export type RuleField = {
  name: string
  label: string
  kind: FieldKind
  isOptional: boolean
  options?: readonly { value: string; label: string }[]
}

/** A span of time: days, hours or weeks. */
export type Span = { count: number; unit: 'h' | 'd' | 'w' }
/** The value of a rule, by the input of its operator; undefined as long as it is not given. A number can be its text. */
export type RuleValue = string | number | boolean | readonly string[] | Span | undefined

/** One condition. `id` tells it apart on the screen. */
export type Rule = { id: number; field: string; operator: OperatorName; value?: RuleValue }
/** Rules that all or any of must hold. */
export type RuleGroup = { id: number; join: 'and' | 'or'; rules: (Rule | RuleGroup)[] }

/** How the value of an operator is entered. */
export type InputKind = 'text' | 'number' | 'truth' | 'day' | 'span' | 'option' | 'options' | 'tags' | 'none'

/** Rules of a filter: the API takes 50 keys, and a rule has three at most. */
export const MAX_RULES = 15
/** Groups within each other: the API takes five levels, of which a condition with several values has three. */
export const MAX_DEPTH = 2
/** The API takes patterns of 64 characters; each one may have to be escaped. */
export const MAX_PATTERN_TEXT = 30

type Operator = {
  input: InputKind
  /** Returns what the field must be, in the filter language of the API. */
  write: (value: never) => unknown
  /** Returns the value of a condition that this operator wrote; undefined for any other. */
  read: (condition: unknown) => RuleValue
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isDay = (value: unknown): value is string => isText(value) && /^\d{4}-\d\d-\d\d$/.test(value)

/** Returns the operand of a condition of one operator. */
function operand(condition: unknown, operator: string): unknown {
  const entries = isObject(condition) ? Object.entries(condition) : []
  return entries.length === 1 && entries[0]![0] === operator ? entries[0]![1] : undefined
}

function compared<T extends RuleValue>(input: InputKind, operator: string, fits: (value: unknown) => value is T) {
  return {
    input,
    write: (value: T) => ({ [operator]: value }),
    read: (condition: unknown) => {
      const value = operand(condition, operator)
      return fits(value) ? value : undefined
    },
  }
}

/** Any of some values; of one, that value alone, as the chips of the filter bar write it. */
const anyOf = {
  write: (values: readonly string[]) => (values.length === 1 ? values[0] : { $in: values }),
  read: (condition: unknown) => {
    if (isText(condition)) return [condition]
    const values = operand(condition, '$in')
    return isTexts(values) && values.length > 1 ? values : undefined
  },
}

function relative(operator: string, sign: '+' | '-') {
  return {
    input: 'span',
    write: ({ count, unit }: Span) => ({ [operator]: `now${sign}${count}${unit}` }),
    read: (condition: unknown) => readSpan(operand(condition, operator), sign),
  } as const
}

function readSpan(text: unknown, sign: '+' | '-'): Span | undefined {
  const [, found, count, unit] = /^now([+-])(\d{1,6})([hdw])$/.exec(String(text)) ?? []
  return found === sign ? { count: Number(count), unit: unit as Span['unit'] } : undefined
}

function pattern(start: '^' | '') {
  return {
    input: 'text',
    write: (text: string) => ({ $regex: start + escapePattern(text), $options: 'i' }),
    read: (condition: unknown) => {
      if (!isObject(condition) || condition.$options !== 'i' || Object.keys(condition).length !== 2) return undefined
      const source = String(condition.$regex)
      if (!source.startsWith(start)) return undefined
      const text = source.slice(start.length).replace(/\\([\\^$.*+?()[\]{}|])/g, '$1')
      return text !== '' && start + escapePattern(text) === source ? text : undefined
    },
  } as const
}

function fixed(condition: unknown) {
  return {
    input: 'none',
    write: () => condition,
    read: (found: unknown) => (JSON.stringify(found) === JSON.stringify(condition) ? true : undefined),
  } as const
}

/** The operators. Which of them a field has is in `OPERATORS`. */
const operators = {
  is: {
    input: 'text',
    write: (value: string) => value,
    read: condition => (isText(condition) ? condition : undefined),
  },
  isNot: compared('text', '$ne', isText),
  contains: pattern(''),
  startsWith: pattern('^'),
  equals: {
    input: 'number',
    write: (value: number) => value,
    read: condition => (typeof condition === 'number' ? condition : undefined),
  },
  differs: compared('number', '$ne', value => typeof value === 'number'),
  over: compared('number', '$gt', value => typeof value === 'number'),
  atLeast: compared('number', '$gte', value => typeof value === 'number'),
  under: compared('number', '$lt', value => typeof value === 'number'),
  atMost: compared('number', '$lte', value => typeof value === 'number'),
  isTrue: {
    input: 'truth',
    write: (value: boolean) => value,
    read: condition => (typeof condition === 'boolean' ? condition : undefined),
  },
  inLast: relative('$gte', '-'),
  notInLast: relative('$lt', '-'),
  inNext: {
    input: 'span',
    write: ({ count, unit }: Span) => ({ $gte: 'now', $lte: `now+${count}${unit}` }),
    read: condition => {
      if (!isObject(condition) || condition.$gte !== 'now' || Object.keys(condition).length !== 2) return undefined
      return readSpan(condition.$lte, '+')
    },
  },
  since: compared('day', '$gte', isDay),
  before: compared('day', '$lt', isDay),
  isOption: { input: 'option', write: (value: string) => value, read: c => (isText(c) ? c : undefined) },
  isNotOption: compared('option', '$ne', isText),
  isOneOf: compared('options', '$in', isTexts),
  isNoneOf: compared('options', '$nin', isTexts),
  hasAny: { input: 'tags', ...anyOf },
  hasAll: compared('tags', '$all', isTexts),
  hasNone: compared('tags', '$nin', isTexts),
  onAny: { input: 'options', ...anyOf },
  onNone: compared('options', '$nin', isTexts),
  onSome: fixed({ $exists: true }),
  onNothing: fixed({ $exists: false }),
  isSet: fixed({ $ne: null }),
  isMissing: fixed(null),
} satisfies Record<string, Operator>

export type OperatorName = keyof typeof operators

const SET: readonly OperatorName[] = ['isSet', 'isMissing']
/** The operators of each kind of field, the usual one first. */
const OPERATORS: Record<FieldKind, readonly OperatorName[]> = {
  text: ['is', 'isNot', 'contains', 'startsWith'],
  number: ['equals', 'differs', 'over', 'atLeast', 'under', 'atMost'],
  boolean: ['isTrue'],
  date: ['inLast', 'notInLast', 'inNext', 'since', 'before'],
  choice: ['isOption', 'isNotOption', 'isOneOf', 'isNoneOf'],
  tags: ['hasAny', 'hasAll', 'hasNone'],
  lists: ['onAny', 'onNone', 'onSome', 'onNothing'],
}

/** Returns the operators of a field, the usual one first. */
export function operatorsOf({ kind, isOptional }: Pick<RuleField, 'kind' | 'isOptional'>): readonly OperatorName[] {
  return isOptional ? [...OPERATORS[kind], ...SET] : OPERATORS[kind]
}

/** Returns how the value of an operator is entered. */
export function inputOf(operator: OperatorName): InputKind {
  return operators[operator].input
}

let lastId = 0
const newId = () => ++lastId

/** Returns a rule of a field, still without a value. */
export function newRule(field: RuleField): Rule {
  const operator = operatorsOf(field)[0]!
  return { id: newId(), field: field.name, operator, value: usualValue(operator) }
}

/** Returns a rule with another operator. Keeps the value if it is entered in the same way. */
export function withOperator(rule: Rule, operator: OperatorName): Rule {
  const keeps = inputOf(operator) === inputOf(rule.operator)
  return { ...rule, operator, value: keeps ? rule.value : usualValue(operator) }
}

function usualValue(operator: OperatorName): RuleValue {
  const usual: Partial<Record<InputKind, RuleValue>> = {
    truth: true,
    span: { count: 30, unit: 'd' },
    options: [],
    tags: [],
  }
  return usual[inputOf(operator)]
}

/** Returns a group with rules. */
export function newGroup(rules: RuleGroup['rules'] = [], join: RuleGroup['join'] = 'and'): RuleGroup {
  return { id: newId(), join, rules }
}

/** Whether an entry is a group. */
export function isGroup(entry: Rule | RuleGroup): entry is RuleGroup {
  return 'rules' in entry
}

/** Whether a rule has its value. */
export function isComplete({ operator, value }: Rule): boolean {
  switch (inputOf(operator)) {
    case 'none':
      return true
    case 'options':
    case 'tags':
      return Array.isArray(value) && value.length > 0
    case 'span':
      return typeof value === 'object' && 'count' in value && Number.isInteger(value.count) && value.count > 0
    case 'number':
      return value !== undefined && value !== '' && Number.isFinite(Number(value))
    default:
      return isScalar(value) && value !== ''
  }
}

/** Returns all rules of a group and of those within it. */
export function rulesOf(group: RuleGroup): Rule[] {
  return group.rules.flatMap(entry => (isGroup(entry) ? rulesOf(entry) : [entry]))
}

/** Returns the filter of the API that means the same. Leaves out rules without a value, and groups without rules. */
export function toFilter(group: RuleGroup): Conditions {
  const parts = group.rules
    .map(entry => (isGroup(entry) ? toFilter(entry) : conditionOf(entry)))
    .filter(part => Object.keys(part).length > 0)
  if (parts.length < 2) return parts[0] ?? {}
  if (group.join === 'or') return { $or: parts }
  const keys = parts.flatMap(Object.keys)
  return new Set(keys).size === keys.length ? Object.assign({}, ...parts) : { $and: parts }
}

function conditionOf(rule: Rule): Conditions {
  if (!isComplete(rule)) return {}
  const { field, operator, value } = rule
  const given = inputOf(operator) === 'number' ? Number(value) : value
  return { [field]: operators[operator].write(given as never) }
}

/** Returns the rules of a filter; undefined if it has what no rule says. */
export function fromFilter(filter: Conditions, fields: readonly RuleField[]): RuleGroup | undefined {
  try {
    const group = readGroup(filter, fields)
    return depthOf(group) <= MAX_DEPTH && rulesOf(group).length <= MAX_RULES ? group : undefined
  } catch (error) {
    if (error instanceof Unknown) return undefined
    throw error
  }
}

class Unknown extends Error {}

function readGroup(filter: Conditions, fields: readonly RuleField[]): RuleGroup {
  const entries = Object.entries(filter).flatMap(([name, condition]): RuleGroup['rules'] => {
    if (name === '$and' || name === '$or') {
      if (!Array.isArray(condition) || !condition.every(isObject)) throw new Unknown()
      const rules = condition.map(part => only(readGroup(part, fields)))
      return name === '$or' ? [newGroup(rules, 'or')] : rules // all conditions of a filter must hold anyway
    }
    const field = fields.find(each => each.name === name)
    if (!field) throw new Unknown()
    return readRules(field, condition)
  })
  const [first] = entries
  return entries.length === 1 && first && isGroup(first) ? first : newGroup(entries)
}

/** A group of one rule is that rule. */
function only(group: RuleGroup): Rule | RuleGroup {
  return group.rules.length === 1 ? group.rules[0]! : group
}

function readRules(field: RuleField, condition: unknown): Rule[] {
  for (const operator of operatorsOf(field)) {
    const value = operators[operator].read(condition)
    if (value !== undefined)
      return [
        {
          id: newId(),
          field: field.name,
          operator,
          ...(value !== true || inputOf(operator) === 'truth' ? { value } : {}),
        },
      ]
  }
  // Several operators on one field are as many rules.
  const { $regex, $options, ...others } = isObject(condition) ? condition : {}
  const parts = Object.entries(others).map(([operator, operand]) => ({ [operator]: operand }))
  const all = $regex === undefined ? parts : [...parts, { $regex, $options }]
  if (all.length < 2) throw new Unknown()
  return all.flatMap(part => readRules(field, part))
}

/** Groups within each other, this one included. */
function depthOf(group: RuleGroup): number {
  return 1 + Math.max(0, ...group.rules.filter(isGroup).map(depthOf))
}

function isObject(value: unknown): value is Conditions {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
