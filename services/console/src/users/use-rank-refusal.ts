import { errorTexts } from '@rollcall/sdk/error-texts'
import { sentence } from '../server/texts.ts'
import { useMe } from '../session.ts'
import { outranks } from './rank.ts'

/** Returns why the person may not change an account, undefined if they may: nobody changes one of a higher rank. */
export function useRankRefusal({ role }: { role: string }): string | undefined {
  const isHigher = outranks(role, useMe().role)
  return isHigher ? sentence(errorTexts['account.higher_rank'].replace('{role}', role)) : undefined
}
