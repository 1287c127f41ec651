/** Every operation of the API, in the order of the document. */
import { createCampaign } from './campaigns/create.ts';
import { getCsvFile, uploadCsvFile } from './campaigns/csv-files.ts';
import { listCampaignRecipients } from './campaigns/recipients.ts';
import {
  cancelCampaignEndpoint,
  getCampaign,
  listCampaigns,
  pauseCampaignEndpoint,
  startCampaign,
} from './campaigns/report.ts';
import { testCampaignEndpoint } from './campaigns/test.ts';
import { createContact, deleteContact, getContact, listContacts, updateContact } from './contacts.ts';
import {
  assignConversation,
  changeConversationStatus,
  getConversation,
  listConversations,
} from './conversations.ts';
import { documentation } from './frame/docs-page.ts';
import type { Endpoint } from './frame/endpoint.ts';
import { healthz, readyz } from './frame/health.ts';
import { sendMessage } from './messages.ts';
import { metricsEndpoint } from './frame/metrics-endpoint.ts';
import { receiveProviderCallback, verifyProviderWebhook } from './provider-webhook.ts';
import { createSegment, deleteSegment, getSegment, listSegments, updateSegment } from './segments.ts';
import { createTag, deleteTag, getTag, listTags, updateTag } from './tags.ts';
import { getPayloadSkeleton, getTemplateVariables, listTemplates, syncTemplates } from './templates.ts';
import { getWallet, rechargeWallet } from './wallet.ts';
import { listWebhookEvents } from './webhooks/catalogue.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  updateWebhook,
} from './webhooks/configurations.ts';
import {
  getWebhookDelivery,
  listWebhookDeliveries,
  resendWebhookDelivery,
  testWebhook,
} from './webhooks/deliveries.ts';
import { readWebhookHealth } from './webhooks/health.ts';

const operations: readonly Endpoint[] = [
  createCampaign,
  uploadCsvFile,
  getCsvFile,
  listCampaigns,
  getCampaign,
  listCampaignRecipients,
  startCampaign,
  pauseCampaignEndpoint,
  cancelCampaignEndpoint,
  testCampaignEndpoint,
  listTemplates,
  syncTemplates,
  getTemplateVariables,
  getPayloadSkeleton,
  sendMessage,
  listTags,
  createTag,
  getTag,
  updateTag,
  deleteTag,
  listContacts,
  createContact,
  getContact,
  updateContact,
  deleteContact,
  listSegments,
  createSegment,
  getSegment,
  updateSegment,
  deleteSegment,
  listConversations,
  getConversation,
  assignConversation,
  changeConversationStatus,
  getWallet,
  rechargeWallet,
  verifyProviderWebhook,
  receiveProviderCallback,
  createWebhook,
  listWebhooks,
  listWebhookEvents,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  readWebhookHealth,
  testWebhook,
  listWebhookDeliveries,
  getWebhookDelivery,
  resendWebhookDelivery,
  healthz,
  readyz,
  metricsEndpoint,
];

export const routes: readonly Endpoint[] = [...operations, ...documentation(operations)];
