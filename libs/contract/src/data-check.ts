import protobuf from 'protobufjs'
import { compileArray, Issues, isPlainObject, jsonCheck, numberCheck, stringCheck, type ValueCheck } from './check.ts'
import { type RuleOption, ruleOf, shapeOf, shownFieldsOf, wireNameOf } from './options.ts'

/** Returns what is wrong with JSON data; undefined if it is valid. */
export type DataCheck = (data: unknown) => string | undefined

/**
 * Compiles the check of JSON data that a message declares. Every field that is not `optional` is required. Stored
 * records only require their ids, since an older version may have stored them.
 * @param isOpen whether undeclared fields are ignored; otherwise they are refused
 */
export function compileDataCheck(type: protobuf.Type, isOpen: boolean): DataCheck {
  const check = compileMessage(type, isOpen)
  return data => {
    const issues = new Issues()
    check(data, '', issues)
    return issues.worst && describe(issues.worst)
  }
}

function describe({ code, path, reason }: NonNullable<Issues['worst']>): string {
  return `${code.slice('request.'.length).replace('_', ' ')}${path && ` -> ${path}`}${reason === undefined ? '' : `: ${reason}`}`
}

type Member = { name: string; isRequired: boolean; check: ValueCheck }

function compileMessage(type: protobuf.Type, isOpen: boolean): ValueCheck {
  const { record = false, entry = false } = shapeOf(type)
  const isRecord = record || entry
  const own = shownFieldsOf(type).map(field => memberOf(field, isOpen, !isRecord))
  const members: Member[] = [...(isRecord ? idMembers : []), ...own, ...(record ? dateMembers : [])]
  const required = members.filter(({ isRequired }) => isRequired)
  const byName = new Map(members.map(member => [member.name, member]))
  return (value, path, issues) => {
    if (!isPlainObject(value)) return issues.add('request.invalid_field', path, 'must be an object')
    const prefix = path && `${path}.`
    for (const { name } of required) if (!Object.hasOwn(value, name)) issues.add('request.missing_field', prefix + name)
    for (const [name, inner] of Object.entries(value)) {
      const member = byName.get(name)
      if (member) member.check(inner, prefix + name, issues)
      else if (!isOpen) issues.add('request.extra_field', prefix + name)
    }
    return value
  }
}

const text = stringCheck({ controls: true })
const date = stringCheck({ format: 'date' })

/** The fields that every record has besides the declared ones. */
const idMembers: Member[] = ['_id', 'id'].map(name => ({ name, isRequired: true, check: text }))
const dateMembers: Member[] = ['createdAt', 'updatedAt'].map(name => ({ name, isRequired: false, check: date }))

/** Bounds apply to requests only, not to stored data. */
const unbounded = {
  required: false,
  nonEmpty: false,
  trim: false,
  controls: true,
  minLen: 0,
  maxLen: Number.POSITIVE_INFINITY,
  min: Number.NEGATIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
  maxItems: Number.POSITIVE_INFINITY,
}

function memberOf(field: protobuf.Field, isOpen: boolean, isRequired: boolean): Member {
  const rule = { ...ruleOf(field), ...unbounded }
  const single = checkOf(field, rule, isOpen)
  const check = field.repeated ? compileArray(single, rule) : single
  return {
    name: wireNameOf(field),
    isRequired: isRequired && !field.options?.proto3_optional,
    check: rule.nullable ? (value, path, issues) => (value === null ? null : check(value, path, issues)) : check,
  }
}

function checkOf(field: protobuf.Field, rule: RuleOption, isOpen: boolean): ValueCheck {
  if (rule.json) return jsonCheck(rule.json, rule)
  const { resolvedType } = field.resolve()
  if (resolvedType instanceof protobuf.Type) return compileMessage(resolvedType, isOpen)
  if (field.type === 'bool')
    return (value, path, issues) =>
      typeof value === 'boolean' ? value : issues.add('request.invalid_field', path, 'must be true or false')
  return field.type === 'string' ? stringCheck(rule) : numberCheck(field.type, rule)
}
