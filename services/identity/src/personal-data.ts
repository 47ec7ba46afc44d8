import { ofAccounts, type PersonalDataOf } from '@rollcall/service'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'

/** What the collections hold of contacts: nothing. Those that name people are about accounts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  organizations: 'none',
  users: ofAccounts('addresses, names and attributes of accounts'),
  sessions: ofAccounts('network addresses and browsers of accounts', 'until they end, 30 days at most'),
  signInCodes: ofAccounts('hashes of addresses that codes are mailed to', '10 minutes'),
  signInCodeBudgets: 'none',
  signInLimits: 'none',
  pendingSignIns: 'none',
  clients: 'none',
  roles: 'none',
  tokens: 'none',
  tokenUses: 'none',
  devices: ofAccounts('network addresses and browsers of accounts', 'a year after the last sign-in from it'),
  activities: ofAccounts('names and addresses of accounts in their audit trail', '2 years'),
  passwordResets: 'none',
  emailChanges: ofAccounts('new addresses of accounts', 'a day'),
  userEmails: ofAccounts('subjects of mails to accounts', 'until the account is deleted'),
  features: 'none',
  workspaces: 'none',
  members: 'none',
  invitations: ofAccounts('addresses of invited people', '90 days after it expires'),
}
