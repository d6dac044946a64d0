export * from '@isthmus/sdk/host';
