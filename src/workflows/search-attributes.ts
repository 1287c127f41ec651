/** Typed keys of the workflows' search attributes. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { searchAttributeNames } from './contract.ts';

export const workspaceIdKey = defineSearchAttributeKey(
  searchAttributeNames.workspaceId,
  SearchAttributeType.INT,
);
export const campaignStatusKey = defineSearchAttributeKey(
  searchAttributeNames.campaignStatus,
  SearchAttributeType.KEYWORD,
);
export const pauseReasonKey = defineSearchAttributeKey(
  searchAttributeNames.pauseReason,
  SearchAttributeType.KEYWORD,
);
