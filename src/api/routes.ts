/** Every operation of the API, in the order of the document. */
import { listAudit } from './audit.ts';
import { checkNewCampaign } from './campaigns/check.ts';
import { createCampaign } from './campaigns/create.ts';
import { previewCsvFile } from './campaigns/csv-preview.ts';
import { getCsvFile, uploadCsvFile } from './campaigns/csv-files.ts';
import { getCampaignDiagnosis, getCampaignTimeline, streamCampaign } from './campaigns/follow.ts';
import { getCampaignRecipient, listCampaignRecipients } from './campaigns/recipients.ts';
import { cancelCampaignEndpoint, pauseCampaignEndpoint, startCampaign } from './campaigns/operate.ts';
import { updateCampaign } from './campaigns/edit.ts';
import { getCampaign, listCampaigns } from './campaigns/report.ts';
import { testCampaignEndpoint } from './campaigns/test.ts';
import { getChannel, listChannels } from './channels.ts';
import { listContactConsents } from './contact-consents.ts';
import {
  createContact,
  deleteContact,
  exportContactEndpoint,
  getContact,
  listContacts,
  updateContact,
} from './contacts.ts';
import {
  assignConversation,
  changeConversationStatus,
  getConversation,
  listConversations,
} from './conversations.ts';
import { documentation } from './frame/document/docs-page.ts';
import type { Endpoint } from './frame/endpoint.ts';
import { listContactHistory, listConversationMessages } from './history.ts';
import { healthz, metricsEndpoint, readyz } from './frame/health.ts';
import { listNoticesEndpoint, readNotices } from './notices.ts';
import { uploadMediaFile } from './media.ts';
import { getMessageEndpoint, listMessagesEndpoint } from './message-list.ts';
import { sendMessage } from './messages.ts';
import { receiveProviderCallback, verifyProviderWebhook } from './provider-webhook.ts';
import {
  countSegment,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  updateSegment,
} from './segments.ts';
import { deleteSendingWindow, getSendingWindow, putSendingWindow } from './sending-window.ts';
import { createTag, deleteTag, getTag, listTags, updateTag } from './tags.ts';
import { getOverview } from './overview.ts';
import { previewTemplate } from './template-preview.ts';
import {
  getPayloadSkeleton,
  getTemplate,
  getTemplateVariables,
  listTemplates,
  syncTemplates,
} from './templates.ts';
import { getWallet, listWalletEntries, rechargeWallet } from './wallet.ts';
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
import { listDeliveries, resendFailed } from './webhooks/delivery-log.ts';
import { readWebhookHealth } from './webhooks/webhook-health.ts';

const operations: readonly Endpoint[] = [
  createCampaign,
  checkNewCampaign,
  uploadCsvFile,
  getCsvFile,
  previewCsvFile,
  listCampaigns,
  getOverview,
  getCampaign,
  updateCampaign,
  getCampaignTimeline,
  getCampaignDiagnosis,
  streamCampaign,
  listCampaignRecipients,
  getCampaignRecipient,
  startCampaign,
  pauseCampaignEndpoint,
  cancelCampaignEndpoint,
  testCampaignEndpoint,
  listTemplates,
  syncTemplates,
  getTemplate,
  previewTemplate,
  getTemplateVariables,
  getPayloadSkeleton,
  sendMessage,
  listMessagesEndpoint,
  getMessageEndpoint,
  uploadMediaFile,
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
  exportContactEndpoint,
  listContactConsents,
  listContactHistory,
  listSegments,
  createSegment,
  countSegment,
  getSegment,
  updateSegment,
  deleteSegment,
  listConversations,
  getConversation,
  listConversationMessages,
  assignConversation,
  changeConversationStatus,
  listChannels,
  getChannel,
  getSendingWindow,
  putSendingWindow,
  deleteSendingWindow,
  getWallet,
  rechargeWallet,
  listWalletEntries,
  listAudit,
  listNoticesEndpoint,
  readNotices,
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
  listDeliveries,
  getWebhookDelivery,
  resendWebhookDelivery,
  resendFailed,
  healthz,
  readyz,
  metricsEndpoint,
];

export const routes: readonly Endpoint[] = [...operations, ...documentation(operations)];
