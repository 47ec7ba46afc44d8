import { AppError } from '@rollcall/contract'
import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { AudienceList } from './list.model.ts'

/** The list with this id. @throws {AppError} not_found where the organization has none */
export async function findList(lists: Scope<AudienceList>, id: string, session?: ClientSession): Promise<AudienceList> {
  const list = await lists.findOne({ _id: id }, { session })
  if (!list) throw new AppError('list.not_found')
  return list
}
