import {
  Button,
  CloseButton,
  type CSSVariablesResolver,
  createTheme,
  Input,
  type MantineColorsTuple,
  Menu,
  Modal,
  Tooltip,
} from '@mantine/core'

const indigo: MantineColorsTuple = [
  '#f0f2ff',
  '#e0e4ff',
  '#c3cafd',
  '#a2adfa',
  '#8590f6',
  '#6f78f2',
  '#5f63ec',
  '#4f4fdb',
  '#4343c4',
  '#35359c',
]

const gray: MantineColorsTuple = [
  '#fafafb',
  '#f4f4f6',
  '#ebebef',
  '#dedee4',
  '#c4c4ce',
  '#9a9aa8',
  '#72727f',
  '#555562',
  '#373741',
  '#1e1e25',
]

const dark: MantineColorsTuple = [
  '#e4e4e9',
  '#b4b4bf',
  '#93939f',
  '#6b6b77',
  '#3a3a43',
  '#2b2b32',
  '#222227',
  '#18181c',
  '#131316',
  '#0d0d10',
]

/** Mantine as the console wears it: Inter, a 4 px grid, one accent, flat surfaces. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 7 },
  colors: { indigo, gray, dark },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.4' },
      h2: { fontSize: '1rem', lineHeight: '1.5' },
      h3: { fontSize: '0.875rem', lineHeight: '1.5' },
    },
  },
  defaultRadius: 'md',
  radius: { xs: '3px', sm: '5px', md: '7px', lg: '10px', xl: '14px' },
  shadows: {
    md: '0 4px 12px rgb(0 0 0 / 8%), 0 1px 3px rgb(0 0 0 / 6%)',
    xl: '0 16px 48px rgb(0 0 0 / 18%), 0 2px 6px rgb(0 0 0 / 8%)',
  },
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Alert: { styles: { title: { color: 'var(--mantine-color-text)' } } },
    Button: Button.extend({
      vars: (_theme, { size = 'sm' }) => ({
        root:
          size === 'sm'
            ? { '--button-height': '2rem', '--button-padding-x': '0.75rem', '--button-fz': '0.8125rem' }
            : {},
      }),
      styles: { label: { fontWeight: 550 } },
    }),
    Input: Input.extend({
      vars: (_theme, { size = 'sm' }) => ({
        wrapper: size === 'sm' ? { '--input-height': '2.125rem', '--input-fz': '0.875rem' } : {},
      }),
    }),
    InputWrapper: Input.Wrapper.extend({
      styles: { label: { fontWeight: 550, marginBottom: 4 }, description: { marginBottom: 4 } },
    }),
    CloseButton: CloseButton.extend({ defaultProps: { ...{ 'aria-label': 'Close' } } }),
    Modal: Modal.extend({
      defaultProps: {
        attributes: { header: { role: 'presentation' } }, // else a second banner
        closeOnClickOutside: false, // a slip loses nothing that was typed
        centered: true,
        radius: 'lg',
        padding: 'lg',
        transitionProps: { duration: 120 },
        overlayProps: { backgroundOpacity: 0.4 },
      },
      styles: { title: { fontWeight: 600, fontSize: '1rem' }, header: { paddingBottom: 8 } },
    }),
    Drawer: {
      defaultProps: {
        attributes: { header: { role: 'presentation' } }, // else a second banner
        position: 'right',
        padding: 'lg',
        size: '40rem',
        overlayProps: { backgroundOpacity: 0.3 },
      },
      styles: { title: { fontWeight: 600, fontSize: '1rem' } },
    },
    Menu: Menu.extend({
      defaultProps: {
        shadow: 'md',
        radius: 'md',
        transitionProps: { duration: 100 },
        withInitialFocusPlaceholder: false, // a menu has items only; the first one gets the focus
      },
    }),
    Tooltip: Tooltip.extend({
      defaultProps: { openDelay: 300, radius: 'sm', fz: 'xs', events: { hover: true, focus: true, touch: false } },
    }),
    Table: { defaultProps: { verticalSpacing: 0, horizontalSpacing: 'sm' } },
    Tabs: {
      styles: {
        tab: { paddingInline: 10, paddingBlock: 8, flex: 'none' },
      },
    },
  },
})

/** Filled buttons that delete something. */
const danger = { '--mantine-color-red-filled': '#c92a2a', '--mantine-color-red-filled-hover': '#b02525' }

/** Colours that Mantine's own defaults leave below a contrast of 4.5, and the console's surfaces. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...danger,
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#1e1e25',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-8)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-7)',
    '--mantine-color-default-border': '#dcdce3',
    '--rc-canvas': '#f7f7f9',
    '--rc-line': '#e8e8ed',
    '--rc-hover': '#f4f4f7',
    '--rc-active': '#ebebf1',
    '--rc-accent-soft': '#eeefff',
    '--rc-accent-text': '#4343c4',
  },
  dark: {
    ...danger,
    '--mantine-color-body': '#121215',
    '--mantine-color-text': '#e9e9ee',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    '--mantine-color-default': '#1a1a1f',
    '--mantine-color-default-hover': '#222228',
    '--mantine-color-default-border': '#313139',
    '--rc-canvas': '#0c0c0e',
    '--rc-line': '#25252b',
    '--rc-hover': '#19191e',
    '--rc-active': '#222228',
    '--rc-accent-soft': '#23234a',
    '--rc-accent-text': '#b8befc',
  },
})
