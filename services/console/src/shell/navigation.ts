import { HomeIcon, type Icon } from '@primer/octicons-react'
import type en from './en.ts'

/** A screen of the navigation; not shown without its permission. */
export type Area = { name: keyof typeof en.areas; to: string; icon: Icon; permission?: string }

/** The screens, grouped as the navigation shows them. */
export const NAVIGATION: readonly { group?: keyof typeof en.groups; areas: readonly Area[] }[] = [
  { areas: [{ name: 'overview', to: '/', icon: HomeIcon }] },
]
