import { getDefaultZIndex, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { takesAway } from './leaving.ts'

/** What is asked before something is lost. */
export type Question = { title: string; text: string; leave: string; stay: string }

/** For each form and secret on the screen: whether it has something unsaved. */
const guards = new Set<() => boolean>()
/** To the question that is open. */
let answer: Promise<boolean> | undefined

/**
 * Asks before a navigation, Back, a reload or the end of the tab loses what is unsaved. Returns a function that leaves in
 * another way, such as by closing a dialog: at once if nothing is unsaved, else when the person agrees.
 */
export function useUnsaved(isUnsaved: () => boolean, question?: Question): (leave: () => void) => Promise<void> {
  const usual = useUsualQuestion()
  const hasAgreed = useRef(false)
  const wouldLose = () => !hasAgreed.current && isUnsaved()
  useEffect(() => {
    guards.add(wouldLose)
    return () => void guards.delete(wouldLose)
  })
  useBlocker({
    shouldBlockFn: async ({ current, next }) =>
      wouldLose() && takesAway(current, next) && !(await ask(question ?? usual)),
    enableBeforeUnload: wouldLose,
    disabled: !wouldLose(), // else every navigation waits for a test
  })
  return async leave => {
    if (wouldLose() && !(await ask(question ?? usual))) return
    hasAgreed.current = true
    leave()
  }
}

/** Returns a function that asks once for everything on the screen that is unsaved. Resolves to whether it may be lost. */
export function useMayLose(): () => Promise<boolean> {
  const usual = useUsualQuestion()
  return async () => ![...guards].some(wouldLose => wouldLose()) || ask(usual)
}

function useUsualQuestion(): Question {
  const { t } = useTranslation()
  return {
    title: t('kit.unsaved.title'),
    text: t('kit.unsaved.text'),
    leave: t('kit.unsaved.leave'),
    stay: t('kit.unsaved.stay'),
  }
}

/** Resolves to whether the person agrees. All that would be lost by one step share the answer. */
function ask({ title, text, leave, stay }: Question): Promise<boolean> {
  answer ??= new Promise<boolean>(resolve =>
    modals.openConfirmModal({
      title,
      children: <Text size="md">{text}</Text>,
      labels: { confirm: leave, cancel: stay },
      confirmProps: { color: 'red' },
      cancelProps: { variant: 'default', 'data-autofocus': true },
      withCloseButton: false, // would be taken for a way to leave
      zIndex: getDefaultZIndex('max'),
      onConfirm: () => resolve(true),
      onClose: () => resolve(false),
    }),
  ).finally(() => {
    setTimeout(() => {
      answer = undefined
    })
  })
  return answer
}
