"""What people and other programs read: pages say what there is to say (content), formats write it down."""
