import { Alert, Button, Select, Stack, Table, Text } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import type { ImportUpload } from '@rollcall/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AttributeForm } from '../attributes/attribute-form.tsx'
import { useAttributes } from '../contacts/queries.ts'
import { Action } from '../kit/action.tsx'
import { Foot } from './foot.tsx'
import classes from './imports.module.css'
import { FIELDS, type Mapping, mappingProblem, samplesOf, typeOfValues, withTarget } from './mapping.ts'

/** Where each column goes. A column without a target can get an attribute of its own. */
export function MapStep({
  upload: { headers, previewRows },
  mapping,
  onChange,
  onBack,
  onNext,
}: {
  upload: ImportUpload
  mapping: Mapping
  onChange: (mapping: Mapping) => void
  onBack: () => void
  onNext: () => void
}) {
  const { t } = useTranslation()
  const { data: attributes = [] } = useAttributes()
  const [created, setCreated] = useState<string>()
  const targets = [
    { group: t('imports.map.fields'), items: FIELDS.map(value => ({ value, label: t(`imports.map.${value}`) })) },
    { group: t('imports.map.attributes'), items: attributes.map(({ slug, name }) => ({ value: slug, label: name })) },
  ]
  const labelOf = (target: string) =>
    targets.flatMap(({ items }) => items).find(({ value }) => value === target)?.label ?? target
  const problem = mappingProblem(mapping)
  const unmapped = headers.filter(header => !(header in mapping)).length
  return (
    <Stack gap="md">
      <Table.ScrollContainer minWidth={0} type="native" className={`${classes.table} rc-stack`}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('imports.map.column')}</Table.Th>
              <Table.Th>{t('imports.map.samples')}</Table.Th>
              <Table.Th w={240}>{t('imports.map.target')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {headers.map(header => (
              <Table.Tr key={header}>
                <Table.Td fw={550}>{header}</Table.Td>
                <Table.Td data-wide>
                  <div className={classes.samples}>
                    {samplesOf(previewRows, header).map((value, index) => (
                      <span key={index}>{value}</span>
                    ))}
                  </div>
                </Table.Td>
                <Table.Td data-wide>
                  <Select
                    aria-label={t('imports.map.targetOf', { column: header })}
                    placeholder={t('imports.map.skip')}
                    data={targets}
                    clearable
                    searchable
                    value={mapping[header] ?? null}
                    onChange={target => onChange(withTarget(mapping, header, target))}
                  />
                  {!(header in mapping) && (
                    <Action
                      call="attributes.create"
                      variant="subtle"
                      size="compact-sm"
                      mt={4}
                      leftSection={<PlusIcon size={14} />}
                      onClick={() => setCreated(header)}
                    >
                      {t('attributes.new')}
                      <span className="rc-hidden">{` ${header}`}</span>
                    </Action>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {problem ? (
        <Alert color="orange" role="alert">
          {problem.kind === 'required'
            ? t('imports.map.required')
            : t('imports.map.twice', { target: labelOf(problem.target) })}
        </Alert>
      ) : (
        unmapped > 0 && (
          <Text c="dimmed" size="sm">
            {t('imports.map.unmapped', { count: unmapped })}
          </Text>
        )
      )}
      {created !== undefined && (
        <AttributeForm
          like={{ name: created, type: typeOfValues(samplesOf(previewRows, created)) }}
          onCreated={slug => onChange(withTarget(mapping, created, slug))}
          onClose={() => setCreated(undefined)}
        />
      )}
      <Foot onBack={onBack}>
        <Button disabled={problem !== undefined} onClick={onNext}>
          {t('kit.next')}
        </Button>
      </Foot>
    </Stack>
  )
}
