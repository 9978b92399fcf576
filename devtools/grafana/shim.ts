// SPDX-License-Identifier: BSD-3-Clause
// Grafana's field options without their editors, which only Grafana itself registers.
export { BigValue, BarGauge, PanelChrome, Table, TimeSeries, GlobalStyles } from '@grafana/ui';
import { identityOverrideProcessor as id, unitOverrideProcessor as unit, numberOverrideProcessor as num, displayNameOverrideProcessor as dn, thresholdsOverrideProcessor as th, valueMappingsOverrideProcessor as vm, FieldColorModeId } from '@grafana/data';
const item = (path: string, process: any) => ({ id: path, path, name: path, process, shouldApply: () => true, override: () => null, editor: () => null, getItemsCount: undefined, settings: {} }) as any;
export const getAllStandardFieldConfigs = () => [item('unit', unit), item('min', num), item('max', num), item('decimals', num), item('displayName', dn), item('noValue', id), item('color', id), item('thresholds', th), item('mappings', vm), item('links', id), item('filterable', id), item('fieldMinMax', id)];
