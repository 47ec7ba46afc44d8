import { useHotkeys } from '@mantine/hooks'

/** Opens the form of a screen by the key `n`. */
export function useCreateKey(open: () => void): void {
  useHotkeys([['n', open]])
}
