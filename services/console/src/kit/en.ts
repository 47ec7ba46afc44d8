export default {
  close: 'Close',
  cancel: 'Cancel',
  save: 'Save',
  delete: 'Delete',
  edit: 'Edit',
  copy: 'Copy {{what}}',
  copied: 'Copied {{what}}',
  requestId: 'request id',
  errors: {
    title: 'This did not work',
    offline: 'The server did not answer. Check your connection.',
    unavailable: 'The service is not available at the moment.',
    rateLimited: 'Too many requests. Try again in {{seconds}} s.',
    retry: 'Try again',
    forbidden: 'You need the permission {{permission}}.',
    readOnly: 'An impersonation can only read.',
  },
} as const
